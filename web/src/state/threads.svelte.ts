/** The threads of a conversation, and which of them is being read. */
import { api } from '../api/client';
import type { Thread } from '../api/types';

const SOON_MS = 150;

export class Threads {
  all: Record<string, Thread> = $state.raw({});
  private byRoot: ReadonlyMap<string, Thread> = $state.raw(new Map());
  private due: ReturnType<typeof setTimeout> | undefined;
  private readonly conversation: string;

  constructor(conversation: string) {
    this.conversation = conversation;
  }

  /** The thread that a message is the root of. */
  of(event: string): Thread | undefined {
    return this.byRoot.get(event);
  }

  async load(): Promise<void> {
    const { threads } = await api.get<{ threads: Thread[] }>('/v1/threads', { conversation: this.conversation });
    this.byRoot = new Map(threads.flatMap((thread) => (thread.root ? [[thread.root, thread]] : [])));
    this.all = Object.fromEntries(threads.map((thread) => [thread.id, thread]));
  }

  /** Several reasons within a moment are one request. */
  loadSoon(): void {
    this.due ??= setTimeout(() => {
      this.due = undefined;
      void this.load().catch(() => undefined);
    }, SOON_MS);
  }
}
