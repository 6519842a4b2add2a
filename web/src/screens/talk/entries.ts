/** What a list of messages shows, one entry a row: days, what is new, and who goes on. */
import { midnight } from '../../state/format';
import type { Pending } from '../../state/outbox.svelte';
import type { Row } from '../../state/rows';

export interface RowEntry {
  key: string;
  row: Row;
  isFirstOfDay: boolean;
  isFirstUnread: boolean;
  /** It stands below the name of the message before. */
  goesOn: boolean;
}
export type Entry = RowEntry | { key: string; pending: Pending };

/** Messages of one author within this time stand below one name. */
const TOGETHER_MS = 5 * 60_000;
/** No day is shorter: one in spring, where clocks are put forward. */
const SHORT_DAY_MS = 23 * 3_600_000;

/** Makes entries of rows. A row that is shown as before keeps its entry, so that nothing is drawn anew. */
export class Entries {
  private readonly known = new WeakMap<Row, RowEntry>();

  /** What is new is what others said after `unreadAfter`, if anything was read before. */
  of(rows: readonly Row[], pending: readonly Pending[], { unreadAfter, hasDays, me }: { unreadAfter: number; hasDays: boolean; me: string }): Entry[] {
    const all: Entry[] = [];
    let before: Row | undefined;
    let atBefore = 0;
    let begun = 0;
    let hasUnread = false;
    for (const row of rows) {
      const at = Date.parse(row.message.created_at);
      const mayBeOther = at < begun || at >= begun + SHORT_DAY_MS;
      const start: number = mayBeOther ? midnight(at) : begun;
      const isFirstOfDay = hasDays && (before === undefined || start !== begun);
      begun = start;
      const isFirstUnread: boolean = !hasUnread && unreadAfter > 0 && row.seq > unreadAfter && row.message.author.id !== me && before !== undefined;
      hasUnread ||= isFirstUnread;
      const goesOn =
        before !== undefined &&
        !isFirstOfDay &&
        !isFirstUnread &&
        before.message.author.id === row.message.author.id &&
        !row.message.in_reply_to &&
        at - atBefore < TOGETHER_MS;
      all.push(this.entry(row, isFirstOfDay, isFirstUnread, goesOn));
      [before, atBefore] = [row, at];
    }
    for (const one of pending) if (!one.seen) all.push({ key: one.key, pending: one });
    return all;
  }

  private entry(row: Row, isFirstOfDay: boolean, isFirstUnread: boolean, goesOn: boolean): RowEntry {
    const known = this.known.get(row);
    if (known?.isFirstOfDay === isFirstOfDay && known.isFirstUnread === isFirstUnread && known.goesOn === goesOn) return known;
    const made = { key: row.event, row, isFirstOfDay, isFirstUnread, goesOn };
    this.known.set(row, made);
    return made;
  }
}
