/** Who works on an answer to the newest messages of the conversation that is shown. */
import { api } from '../api/client';
import type { Why } from '../api/types';
import type { Conversation } from './conversation.svelte';
import type { Row } from './rows';

/** So many of the newest messages for which somebody was woken are looked at. */
const LOOKED_AT = 8;

const MOST_OVER = 1_000;

export interface Answer {
  member: string;
  /** It has begun; otherwise it waits, or was not reached yet. */
  isWorking: boolean;
  since: number;
}

/** Who was asked and gives no answer. */
export interface Failure {
  member: string;
  note: string;
}

export class Answering {
  /** Answers that will not come, by message. */
  failed: Record<string, Failure[]> = $state({});
  byEvent: Record<string, Answer[]> = $state.raw({});
  private shown: Conversation | undefined;
  private readonly over = new Set<string>();

  /** Looks at a conversation from now on. */
  show(conversation: Conversation): void {
    this.shown = conversation;
    this.byEvent = {};
  }

  async load(): Promise<void> {
    const conversation = this.shown;
    if (conversation === undefined) return;
    // Nothing is wrong with looking at one of them again.
    if (this.over.size > MOST_OVER) this.over.clear();
    const rows = conversation.rows
      .filter((row) => (row.told?.length ?? 0) > 0 && !this.over.has(row.decided))
      .slice(-LOOKED_AT);
    const found = await Promise.all(rows.map((row) => this.look(row)));
    if (this.shown === conversation) this.byEvent = Object.fromEntries(found);
  }

  private async look({ event, decided }: Row): Promise<[string, Answer[]]> {
    const why = await api.get<Why>(`/v1/events/${decided}/attention`);
    const open = why.told.flatMap(({ member, policy, receipt }): Answer[] => {
      if (!receipt || receipt.state === 'settled' || receipt.state === 'dead') return [];
      const isWorking = receipt.state === 'accepted';
      if (!isWorking && policy !== 'must_respond') return [];
      return [{ member, isWorking, since: Date.parse(receipt.accepted_at ?? receipt.offered_at ?? why.created_at) }];
    });
    const failures = why.told.flatMap(({ member, receipt }): Failure[] => {
      const isFailed = receipt?.disposition === 'failed' || receipt?.state === 'dead';
      return isFailed ? [{ member, note: receipt?.note ?? '' }] : [];
    });
    if (failures.length > 0) this.failed[event] = failures;
    else delete this.failed[event];
    const isOver = why.told.every(({ receipt }) => receipt?.state === 'settled' || receipt?.state === 'dead');
    if (isOver) this.over.add(decided);
    return [event, open];
  }
}
