/** Messages on their way: shown at once, kept over a reload, sent again under the same key until
 *  the host has answered. The key makes a message that was sent twice one message. */
import { api, ApiError } from '../api/client';
import type { NewMessage, Posted } from '../api/types';
import type { Row } from './rows';

export interface Pending {
  key: string;
  message: NewMessage;
  at: string;
  /** Why it cannot be sent as it is. */
  refused?: string;
  /** Its entry was seen before the answer. */
  seen?: boolean;
}

const STORED = 'chorus.outbox';

export class Outbox {
  pending: Pending[] = $state.raw(restore());
  private isSending = false;

  /** Called with what the host made of a message. */
  constructor(private readonly done: (pending: Pending, posted: Posted) => void) {}

  send(message: Omit<NewMessage, 'idempotency_key'>): Pending {
    const key = crypto.randomUUID();
    const pending = { key, message: { ...message, idempotency_key: key }, at: new Date().toISOString() };
    this.set([...this.pending, pending]);
    void this.flush();
    return pending;
  }

  /** Sends what waits, in its order. */
  async flush(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    try {
      for (;;) {
        const next = this.pending.find((pending) => pending.refused === undefined);
        if (next === undefined) return;
        try {
          const posted = await api.post<Posted>('/v1/messages', next.message);
          this.drop(next.key);
          this.done(next, posted);
        } catch (error) {
          if (error instanceof ApiError && error.isRetryable) return;
          this.change(next.key, { refused: (error as Error).message });
        }
      }
    } finally {
      this.isSending = false;
    }
  }

  /** The entry of one of them has come before its answer. */
  saw(row: Row): void {
    const { message } = row;
    const same = this.pending.find(
      (pending) =>
        !pending.seen &&
        pending.message.conversation === message.conversation &&
        pending.message.text === message.text,
    );
    if (same !== undefined) this.change(same.key, { seen: true });
  }

  drop(key: string): void {
    this.set(this.pending.filter((pending) => pending.key !== key));
  }

  /** Tries one again that was refused. */
  retry(key: string): void {
    this.change(key, { refused: undefined });
    void this.flush();
  }

  private change(key: string, change: Partial<Pending>): void {
    this.set(this.pending.map((pending) => (pending.key === key ? { ...pending, ...change } : pending)));
  }

  private set(pending: Pending[]): void {
    this.pending = pending;
    try {
      localStorage.setItem(STORED, JSON.stringify(pending));
    } catch {
      // A browser without room keeps them until it is closed.
    }
  }
}

function restore(): Pending[] {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '[]') as Pending[];
  } catch {
    return [];
  }
}
