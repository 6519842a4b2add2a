/** What a conversation shows, made of the entries of its log. Pure: the same entries, in whatever
 *  pieces and however often they come, make the same rows. */
import type { LogEvent, Message, Told } from '../api/types';

export interface Row {
  event: string;
  seq: number;
  message: Message;
  /** Who was told of it; unknown for a row that came without its entry. */
  told: Told[] | undefined;
}

const ABOUT_MESSAGES = /^(message_|reaction_)/;

/** Whether an entry changes what is known about threads. */
export function isAboutThreads(event: LogEvent): boolean {
  return event.type.startsWith('thread_') || event.type.startsWith('work_');
}

/** Rows by seq, each event once. */
export class Rows {
  private readonly byEvent = new Map<string, Row>();
  private sorted: Row[] = [];

  get all(): readonly Row[] {
    return this.sorted;
  }

  get(event: string): Row | undefined {
    return this.byEvent.get(event);
  }

  /** Takes entries in; says whether anything is to be shown anew. */
  take(events: readonly LogEvent[]): boolean {
    let changed = false;
    for (const event of events) changed = this.one(event) || changed;
    if (changed) this.sort();
    return changed;
  }

  /** Takes a message in that came without its entry. */
  takeMessage(message: Message, told?: Told[]): void {
    const before = this.byEvent.get(message.event_id);
    this.put({ event: message.event_id, seq: message.seq, message, told: told ?? before?.told });
    this.sort();
  }

  /** Keeps only some of them. */
  keep(isKept: (row: Row) => boolean): void {
    this.sorted = this.sorted.filter((row) => isKept(row) || !this.byEvent.delete(row.event));
  }

  /** Keeps the newest messages of threads where there are too many: of each of these threads, and of
   *  all others together. Says whether any went. */
  trimThreads(apart: ReadonlySet<string>, most: number, kept: number): boolean {
    const groupOf = ({ message }: Row) => (message.thread_id && apart.has(message.thread_id) ? message.thread_id : '');
    const counts = new Map<string, number>();
    const edges = new Map<string, number>();
    for (const row of this.sorted.toReversed()) {
      if (!row.message.thread_id) continue;
      const count = (counts.get(groupOf(row)) ?? 0) + 1;
      counts.set(groupOf(row), count);
      if (count === kept) edges.set(groupOf(row), row.seq);
    }
    const tooMany = new Set([...counts].flatMap(([group, count]) => (count > most ? [group] : [])));
    if (tooMany.size === 0) return false;
    this.keep((row) => !row.message.thread_id || !tooMany.has(groupOf(row)) || row.seq >= edges.get(groupOf(row))!);
    return true;
  }

  private one(event: LogEvent): boolean {
    const message = event.message;
    if (!message || !ABOUT_MESSAGES.test(event.type)) return false;
    const before = this.byEvent.get(message.event_id);
    if (event.type === 'message_posted') {
      // An entry that is read again may be older than what an edit has made of it since.
      const newest = before !== undefined && isNewer(before.message, message) ? before.message : message;
      this.put({ event: message.event_id, seq: message.seq, message: newest, told: event.told ?? before?.told });
      return true;
    }
    if (before === undefined) return false;
    this.put({ ...before, message });
    return true;
  }

  private put(row: Row): void {
    const before = this.byEvent.get(row.event);
    this.byEvent.set(row.event, row);
    if (before === undefined) {
      this.sorted.push(row);
    } else {
      const index = this.sorted.indexOf(before);
      this.sorted[index] = row;
    }
  }

  private sort(): void {
    this.sorted = [...this.sorted];
    for (let i = 1; i < this.sorted.length; i += 1) {
      if (this.sorted[i - 1]!.seq > this.sorted[i]!.seq) {
        this.sorted.sort((a, b) => a.seq - b.seq);
        return;
      }
    }
  }
}

function isNewer(a: Message, b: Message): boolean {
  const changed = (m: Message) => m.deleted_at ?? m.edited_at ?? '';
  return changed(a) > changed(b);
}
