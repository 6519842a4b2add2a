import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Conversation } from '../src/state/conversation.svelte';

/** A host with a log of so many messages. Its answers wait until they are let go. */
let length = 0;
let held: { after: number; go: () => void }[] | undefined;

function event(seq: number, thread_id?: string) {
  const author = { id: 'will', kind: 'human', display_name: 'Will' };
  const created_at = '2026-06-02T19:10:00.000Z';
  const message = { event_id: `evt_${seq}`, message_id: `msg_${seq}`, conversation: 'ch_1', seq, author, kind: 'chat', text: `text ${seq}`, created_at, hop: 0, thread_id };
  return { event_id: `evt_${seq}`, conversation: 'ch_1', seq, type: 'message_posted', actor: author, created_at, message } as never;
}

function answer(path: string): object {
  const { pathname, searchParams } = new URL(path, 'http://host');
  if (pathname === '/v1/threads') return { threads: [] };
  const seq = Number(pathname.split('evt_')[1]);
  if (!Number.isNaN(seq)) return { seq };
  const after = Number(searchParams.get('after'));
  const until = Math.min(length, after + Number(searchParams.get('limit')));
  const events = Array.from({ length: Math.max(0, until - after) }, (_, n) => event(after + 1 + n));
  return { events, has_more: until < length };
}

beforeEach(() => {
  length = 10_000;
  held = undefined;
  vi.stubGlobal('fetch', async (path: string) => {
    const body = JSON.stringify(answer(path));
    if (held !== undefined) {
      const { searchParams } = new URL(path, 'http://host');
      const waiting = held;
      await new Promise<void>((go) => waiting.push({ after: Number(searchParams.get('after')), go }));
    }
    return new Response(body);
  });
});
afterEach(() => vi.unstubAllGlobals());

/** The seqs of the rows, which must follow one another. */
function bounds(conversation: Conversation): [number, number] {
  const seqs = conversation.main.map((row) => row.seq);
  seqs.forEach((seq, n) => expect(seq, 'a hole').toBe(seqs[0]! + n));
  return [seqs[0]!, seqs.at(-1)!];
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

async function opened(): Promise<Conversation> {
  const conversation = new Conversation('ch_1');
  await conversation.open(length);
  return conversation;
}

async function letGo(): Promise<void> {
  const all = held ?? [];
  held = undefined;
  for (const one of all) one.go();
  await settled();
}

describe('what a conversation keeps is bounded', () => {
  const come = (conversation: Conversation, count: number, thread?: string) => {
    for (let n = 0; n < count; n += 1) conversation.take([event((length += 1), thread)]);
  };

  it('while nobody looks at it', async () => {
    const conversation = await opened();
    come(conversation, 5_000);
    expect(conversation.main.length).toBeLessThanOrEqual(3_000);
    expect(bounds(conversation)[1]).toBe(length);
  });

  it('and is left to the list that shows it', async () => {
    const conversation = await opened();
    const leave = conversation.look();
    come(conversation, 3_500);
    expect(conversation.main).toHaveLength(3_700);
    leave();
    come(conversation, 1);
    expect(conversation.main).toHaveLength(2_000);
  });

  it('of threads too, apart for the one that is read', async () => {
    const conversation = await opened();
    conversation.look('th_read');
    come(conversation, 10, 'th_read');
    come(conversation, 7_000, 'th_other');
    expect(conversation.inThread('th_other').length).toBeLessThanOrEqual(3_000);
    expect(conversation.inThread('th_other').at(-1)?.seq).toBe(length);
    expect(conversation.inThread('th_read')).toHaveLength(10);
    come(conversation, 7_000, 'th_read');
    expect(conversation.inThread('th_read').length).toBeLessThanOrEqual(3_000);
    expect(conversation.main).toHaveLength(200);
  });
});

describe('a window of the log has no hole', () => {
  it('when it is opened elsewhere while older entries are on their way', async () => {
    const conversation = await opened();
    held = [];
    void conversation.older();
    const older = held;
    held = undefined;
    await conversation.reach('evt_500');
    held = older;
    await letGo();
    expect(bounds(conversation)).toEqual([401, 600]);
    await conversation.older();
    expect(bounds(conversation)).toEqual([201, 600]);
  });

  it('when it is trimmed while older entries are on their way', async () => {
    const conversation = await opened();
    while (conversation.main.length <= 3_000) await conversation.older();
    held = [];
    void conversation.older();
    conversation.trim('oldest');
    await letGo();
    await conversation.older();
    expect(bounds(conversation)).toEqual([7_801, 10_000]);
  });

  it('when its end is trimmed while newer entries are on their way', async () => {
    const conversation = await opened();
    await conversation.reach('evt_500');
    while (conversation.main.length <= 3_000) await conversation.newer();
    held = [];
    void conversation.newer();
    conversation.trim('newest');
    await letGo();
    await conversation.newer();
    expect(bounds(conversation)).toEqual([401, 2_600]);
  });

  it('when it returns to the newest entries while older ones are on their way', async () => {
    const conversation = await opened();
    await conversation.reach('evt_5000');
    held = [];
    void conversation.older();
    const older = held;
    held = undefined;
    const returned = conversation.toNewest();
    held = older;
    await letGo();
    await returned;
    await conversation.older();
    expect(bounds(conversation)).toEqual([9_601, 10_000]);
  });

  it('when messages come while its last page is on its way', async () => {
    const conversation = await opened();
    await conversation.reach('evt_5000');
    await conversation.reach('evt_9700');
    while (conversation.isBehind) {
      held = [];
      const read = conversation.newer();
      await settled();
      length += 1;
      conversation.take([event(length)]);
      await letGo();
      await read;
    }
    expect(bounds(conversation)[1]).toBe(length);
  });
});
