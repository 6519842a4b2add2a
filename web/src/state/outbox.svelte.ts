/** Messages on their way: shown at once, kept over a reload, sent again under the same key until
 *  the host has answered. The key makes a message that was sent twice one message. */
import { BASE } from '../api/base';
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

/** Each under a key of its own, so that two tabs keep each their own. */
const STORED = `chorus.outbox${BASE}.`;
const AGAIN_MS = 2_000;

export class Outbox {
  pending: Pending[] = $state.raw(restore());
  private isSending = false;

  /** Called with what the host made of a message. */
  constructor(private readonly done: (pending: Pending, posted: Posted) => void) {}

  send(message: Omit<NewMessage, 'idempotency_key'>): Pending {
    const key = crypto.randomUUID();
    const pending = { key, message: { ...message, idempotency_key: key }, at: new Date().toISOString() };
    this.pending = [...this.pending, pending];
    keep(pending);
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
          if (error instanceof ApiError && error.isRetryable) {
            setTimeout(() => void this.flush(), AGAIN_MS);
            return;
          }
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
        textOf(pending.message) === (message.text ?? ''),
    );
    if (same !== undefined) this.change(same.key, { seen: true });
  }

  drop(key: string): void {
    this.pending = this.pending.filter((pending) => pending.key !== key);
    localStorage.removeItem(STORED + key);
  }

  /** Tries one again that was refused. */
  retry(key: string): void {
    this.change(key, { refused: undefined });
    void this.flush();
  }

  private change(key: string, change: Partial<Pending>): void {
    this.pending = this.pending.map((pending) => (pending.key === key ? { ...pending, ...change } : pending));
  }
}

function textOf(message: NewMessage): string {
  const parts = (message.content ?? []) as { text?: string }[];
  return message.text ?? parts.map((part) => part.text).find((text) => text !== undefined) ?? '';
}

function keep(pending: Pending): void {
  try {
    localStorage.setItem(STORED + pending.key, JSON.stringify(pending));
  } catch {
    // A browser without room keeps it until it is closed.
  }
}

function restore(): Pending[] {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(STORED));
  const all = keys.flatMap((key) => {
    try {
      return [JSON.parse(localStorage.getItem(key) ?? '') as Pending];
    } catch {
      return [];
    }
  });
  return all.toSorted((a, b) => a.at.localeCompare(b.at));
}
