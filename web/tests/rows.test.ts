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

  it('say who was told of the newest version', () => {
    const told = (member: string) => ({ told: [{ member }] as never });
    const log = [event(1, 'message_posted', told('bob')), event(2, 'message_edited', told('scout'), 1), event(3, 'message_edited', {}, 1), event(4, 'reaction_set', {}, 1)];
    // The host gives an entry with the message as it is now, also that of the post.
    const now = log.map((one) => ({ ...one, message: log[2]!.message }));
    for (const order of [[0, 1, 2, 3], [2, 3, 0, 1], [3, 2, 1, 0], [0, 2, 1, 0]]) {
      const rows = new Rows();
      for (const at of order) rows.take([now[at]!]);
      expect(rows.all[0]).toMatchObject({ told: [], decided: 'evt_3' });
    }
    const rows = new Rows();
    rows.take(log.slice(0, 1));
    expect(rows.all[0]).toMatchObject({ told: [{ member: 'bob' }], decided: 'evt_1' });
    rows.take(log.slice(0, 2));
    expect(rows.all[0]).toMatchObject({ told: [{ member: 'scout' }], decided: 'evt_2' });
  });

  it('do not say who was told of a version that has been edited since', () => {
    const rows = new Rows();
    const { message } = event(2, 'message_edited', {}, 1);
    rows.take([event(1, 'message_posted', { message, told: [{ member: 'bob' }] as never })]);
    expect(rows.all[0]!.told).toBeUndefined();
    rows.takeDecision('evt_1', { event_id: 'evt_2', seq: 2, told: [{ member: 'scout' }] as never });
    expect(rows.all[0]).toMatchObject({ told: [{ member: 'scout' }], decided: 'evt_2' });
  });

  it('do not show an edit of what is not loaded', () => {
    const rows = new Rows();
    expect(rows.take([event(9, 'message_edited', {}, 2)])).toBe(false);
    expect(rows.all).toHaveLength(0);
  });
});
