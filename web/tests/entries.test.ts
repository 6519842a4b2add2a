import { describe, expect, it } from 'vitest';
import { Entries } from '../src/screens/talk/entries';
import type { Row } from '../src/state/rows';

process.env['TZ'] = 'Europe/Oslo';

function row(seq: number, created_at: string, author = 'will'): Row {
  return { event: `evt_${seq}`, seq, message: { created_at, author: { id: author } }, told: undefined } as never;
}

const OCTOBER = 9;
const MARCH = 2;
/** A time in Oslo, as the host writes it. */
const at = (day: number, hour: number, minute = 0, month = OCTOBER) => new Date(2026, month, day, hour, minute).toISOString();

const marks = (rows: Row[], unreadAfter = 0, hasDays = true) =>
  new Entries().of(rows, [], { unreadAfter, hasDays, me: 'ann' }).map((one) => {
    if ('pending' in one) return 'pending';
    return `${one.isFirstOfDay ? 'day ' : ''}${one.isFirstUnread ? 'new ' : ''}${one.goesOn ? 'on' : 'head'}`;
  });

describe('entries', () => {
  it('begin a day, also over a day of another length', () => {
    const rows = [row(1, at(24, 23, 59)), row(2, at(25, 0, 0)), row(3, at(25, 23, 59)), row(4, at(26, 0, 0)), row(5, at(26, 0, 1))];
    expect(marks(rows)).toEqual(['day head', 'day head', 'head', 'day head', 'on']);
    const spring = [row(1, at(28, 0, 0, MARCH)), row(2, at(29, 0, 0, MARCH)), row(3, at(29, 23, 59, MARCH)), row(4, at(30, 0, 1, MARCH))];
    expect(marks(spring)).toEqual(['day head', 'day head', 'head', 'day head']);
    expect(marks(rows, 0, false)).toEqual(['head', 'on', 'head', 'on', 'on']);
  });

  it('stand below one name within five minutes', () => {
    const rows = [row(1, at(1, 9)), row(2, at(1, 9, 4)), row(3, at(1, 9, 9)), row(4, at(1, 9, 10), 'scout')];
    expect(marks(rows)).toEqual(['day head', 'on', 'head', 'head']);
  });

  it('mark the first that was not read, once', () => {
    const rows = [row(1, at(1, 9)), row(2, at(1, 9)), row(3, at(1, 9)), row(4, at(1, 9))];
    expect(marks(rows, 2)).toEqual(['day head', 'on', 'new head', 'on']);
  });

  it('mark nothing of the person who reads as new', () => {
    const rows = [row(1, at(1, 9)), row(2, at(1, 9)), row(3, at(1, 9), 'ann'), row(4, at(1, 9))];
    expect(marks(rows, 2)).toEqual(['day head', 'on', 'head', 'new head']);
    expect(marks(rows.slice(0, 3), 2)).toEqual(['day head', 'on', 'head']);
  });

  it('are kept while they are shown alike', () => {
    const entries = new Entries();
    const rows = [row(2, at(1, 9)), row(3, at(1, 9))];
    const first = entries.of(rows, [], { unreadAfter: 0, hasDays: true, me: 'ann' });
    const second = entries.of([row(1, at(1, 9)), ...rows], [], { unreadAfter: 0, hasDays: true, me: 'ann' });
    expect(second[2]).toBe(first[1]);
    expect(second[1]).not.toBe(first[0]);
  });
});
