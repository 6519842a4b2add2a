import { describe, expect, it } from 'vitest';
import type { LogEvent } from '../src/api/types';
import { Rows } from '../src/state/rows';

function event(seq: number, type = 'message_posted', more: Partial<LogEvent> = {}, about = seq): LogEvent {
  const message = {
    event_id: `evt_${about}`,
    message_id: `msg_${about}`,
    conversation: 'ch_1',
    seq: about,
    author: { id: 'will', kind: 'human', display_name: 'Will' },
    kind: 'chat',
    text: `text ${seq}`,
    created_at: '2026-06-02T19:10:00.000Z',
    hop: 0,
    ...(type === 'message_edited' ? { edited_at: `2026-06-02T19:1${seq}:00.000Z` } : {}),
  };
  return { event_id: `evt_${seq}`, conversation: 'ch_1', seq, type, actor: message.author, created_at: message.created_at, message, ...more } as never;
}

const texts = (rows: Rows) => rows.all.map((row) => row.message.text);

describe('rows', () => {
  it('are the same in whatever pieces and however often the entries come', () => {
    const log = [event(1), event(2), event(3), event(4, 'message_edited', {}, 2)];
    const whole = new Rows();
    whole.take(log);
    const pieces = new Rows();
    pieces.take(log.slice(2));
    pieces.take(log.slice(0, 2));
    pieces.take(log.slice(1));
    pieces.take(log);
    expect(texts(pieces)).toEqual(texts(whole));
    expect(texts(whole)).toEqual(['text 1', 'text 4', 'text 3']);
  });

  it('can be let go of, and come back', () => {
    const rows = new Rows();
    rows.take([event(1), event(2), event(3)]);
    rows.keep((row) => row.seq > 1);
    expect(texts(rows)).toEqual(['text 2', 'text 3']);
    expect(rows.get('evt_1')).toBeUndefined();
    rows.take([event(1)]);
    expect(texts(rows)).toEqual(['text 1', 'text 2', 'text 3']);
  });

  it('keep who was told when the answer to a post comes after its entry', () => {
    const rows = new Rows();
    rows.take([event(1, 'message_posted', { told: [{ member: 'scout' }] as never })]);
    rows.takeMessage(rows.all[0]!.message);
    expect(rows.all).toHaveLength(1);
    expect(rows.all[0]!.told?.[0]?.member).toBe('scout');
  });

  it('do not show an edit of what is not loaded', () => {
    const rows = new Rows();
    expect(rows.take([event(9, 'message_edited', {}, 2)])).toBe(false);
    expect(rows.all).toHaveLength(0);
  });
});
