/** Who has the turn, and who waits for it, in the conversation that is shown. */
import { api } from '../api/client';
import type { Subject } from '../api/types';

export class Turns {
  subjects: Subject[] = $state.raw([]);
  private shown: string | undefined;

  /** Shows those of a conversation from now on. */
  show(conversation: string): void {
    this.shown = conversation;
    this.subjects = [];
    void this.load().catch(() => undefined);
  }

  async load(): Promise<void> {
    const conversation = this.shown;
    if (conversation === undefined) return;
    const { subjects } = await api.get<{ subjects: Subject[] }>(`/v1/channels/${conversation}/turns`);
    if (this.shown === conversation) this.subjects = subjects;
  }

  /** The members that answer an event now, and since when. */
  answering(event: string): { member: string; since: number }[] {
    return this.subjects.flatMap((subject) =>
      subject.holders
        .filter((holder) => holder.event === event)
        .map((holder) => ({ member: holder.member, since: Date.parse(holder.granted_at) })),
    );
  }

  /** The members that will answer it once they have the turn. */
  waiting(event: string): string[] {
    return this.subjects.flatMap((subject) =>
      subject.waiting.filter((one) => one.event === event).map((one) => one.member),
    );
  }

  /** Since when a member has a turn here. */
  since(member: string): number | undefined {
    const holder = this.subjects.flatMap((subject) => subject.holders).find((one) => one.member === member);
    return holder && Date.parse(holder.granted_at);
  }
}
