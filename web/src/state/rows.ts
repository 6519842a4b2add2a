/** What a conversation shows, made of the entries of its log. Pure: the same entries, in whatever
 *  pieces and however often they come, make the same rows. */
import type { LogEvent, Message, Told } from '../api/types';

export interface Row {
  event: string;
  seq: number;
  message: Message;
  /** Who was told of its newest version; unknown while the entry of that is not here. */
  told: Told[] | undefined;
  /** The event by which its newest version was decided on: its own, or that of an edit. */
  decided: string;
}

/** What the host decided on a version of a message. */
interface Decision {
  event_id: string;
  seq: number;
  told: Told[];
}

const ABOUT_MESSAGES = /^(message_|reaction_)/;

/** Whether an entry changes what is known about threads. */
export function isAboutThreads(event: LogEvent): boolean {
  return event.type.startsWith('thread_') || event.type.startsWith('work_');
}

/** Rows by seq, each event once. */
export class Rows {
  private readonly byEvent = new Map<string, Row>();
  /** The newest edit of each message of which one was seen, also of a message that is not here yet. */
  private readonly edits = new Map<string, Decision>();
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
    this.put(this.row(message, told ?? before?.told));
    this.sort();
  }

  /** Takes in what was decided on an edit whose entry is not here. */
  takeDecision(about: string, decision: Decision): void {
    this.edited(about, decision);
    const row = this.byEvent.get(about);
    if (row === undefined) return;
    this.put(this.row(row.message, row.told));
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
      this.put(this.row(newest, event.told ?? before?.told));
      return true;
    }
    if (event.type === 'message_edited') this.edited(message.event_id, { event_id: event.event_id, seq: event.seq, told: event.told ?? [] });
    if (before === undefined) return false;
    this.put(this.row(message, before.told));
    return true;
  }

  private edited(about: string, decision: Decision): void {
    if ((this.edits.get(about)?.seq ?? 0) <= decision.seq) this.edits.set(about, decision);
  }

  /** A row with the decision on its newest version; `told` is of the first. */
  private row(message: Message, told: Told[] | undefined): Row {
    const { event_id: event, seq } = message;
    const edit = this.edits.get(event);
    if (edit !== undefined) return { event, seq, message, told: edit.told, decided: edit.event_id };
    return { event, seq, message, told: isEdited(message) ? undefined : told, decided: event };
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

function isEdited(message: Message): boolean {
  return Boolean(message.edited_at) && !message.deleted_at && !message.erased;
}

function isNewer(a: Message, b: Message): boolean {
  const changed = (m: Message) => m.deleted_at ?? m.edited_at ?? '';
  return changed(a) > changed(b);
}
