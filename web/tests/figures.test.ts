import { expect, test } from 'vitest';
import { figuresOf, quantile } from '../src/screens/work/figures';
import type { LogEvent } from '../src/api/types';

const post = (id: string, at: string, by: string, told: [string, string, string][], answers?: string) =>
  ({
    type: 'message_posted',
    event_id: id,
    conversation: 'conv',
    created_at: `2026-01-01T${at}Z`,
    actor: { id: by },
    told: told.map(([member, mode, reason]) => ({ member, mode, reason })),
    message: { event_id: id, in_reply_to: answers },
  }) as unknown as LogEvent;

test('who was woken is held against a broadcast, hour by hour', () => {
  const events = [
    post('e1', '10:00:00', 'ann', [['scout', 'buffered', 'mention'], ['writer', 'silent', 'left_out'], ['bob', 'buffered', 'mention']]),
    post('e2', '10:00:03', 'scout', [], 'e1'),
    post('e3', '11:30:00', 'scout', [['ann', 'notify', 'hop_limit']]),
    { ...post('e4', '11:31:00', 'ann', []), type: 'reaction_added' } as unknown as LogEvent,
  ];
  const figures = figuresOf(events, (id) => ['scout', 'writer', 'critic'].includes(id), () => 3);
  expect(figures.messages).toBe(3);
  expect(figures.hours.map(({ woken, broadcast }) => [woken, broadcast])).toEqual([[1, 5], [0, 2]]);
  expect(figures.latencies).toEqual([3_000]);
  expect(figures.stopped).toBe(1);
});

test('a quantile of nothing is none', () => {
  expect(quantile([], 0.5)).toBeUndefined();
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(3);
  expect(quantile([1, 2, 3, 4], 1)).toBe(4);
});
