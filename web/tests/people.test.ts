import { afterEach, describe, expect, it, vi } from 'vitest';
import { People } from '../src/state/people.svelte';

const ANSWERS: Record<string, object> = {
  '/v1/members': { members: [{ id: 'scout_1', handle: 'Scout', display_name: 'Scout', kind: 'agent' }, { id: 'ann', handle: 'ann', display_name: 'Ann', kind: 'human' }] },
  '/v1/roles': { roles: [{ name: 'reviewers', members: [] }] },
  '/v1/channels/ch_1': {
    members: [
      { member: 'scout_1', display: 'manual', display_name: 'Build scout' },
      { member: 'other', display: 'follow_agent', display_name: 'Old name' },
      { member: 'ann', display_name: 'Ann' },
    ],
  },
};

afterEach(() => vi.unstubAllGlobals());

async function people(): Promise<People> {
  vi.stubGlobal('fetch', async (path: string) => new Response(JSON.stringify(ANSWERS[path])));
  const all = new People();
  await all.load();
  await all.loadSeats('ch_1');
  return all;
}

describe('people', () => {
  it('are called in a conversation what they are called there', async () => {
    const all = await people();
    expect(all.name('scout_1')).toBe('Scout');
    expect(all.name('scout_1', 'ch_1')).toBe('Build scout');
    expect(all.name('scout_1', 'ch_2')).toBe('Scout');
    expect(all.name('ann', 'ch_1')).toBe('Ann');
    expect(all.name('other', 'ch_1')).toBe('other');
    expect(all.matching('build', 'ch_1').map((one) => one.handle)).toEqual(['Scout']);
  });

  it('and roles are what a mention may name, in any case', async () => {
    const all = await people();
    expect(['scout', 'SCOUT', 'scout-', 'ann', 'reviewers'].map((word) => all.isNamed(word))).toEqual([true, true, true, true, true]);
    expect(['scou', 'scout_1', 'nobody', ''].map((word) => all.isNamed(word))).toEqual([false, false, false, false]);
  });
});
