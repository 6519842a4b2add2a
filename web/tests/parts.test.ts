import { describe, expect, it } from 'vitest';
import { EventParser } from '../src/api/events';
import { waitAfter } from '../src/api/live';
import { isPlain, linkOf, mayBeTall, tokensOf, withMentions } from '../src/parts/markdown';
import { difference } from '../src/state/difference';
import { nameIn } from '../src/api/assets';
import { clock, excerpt, shortClock, span, visible } from '../src/state/format';
import { read, write } from '../src/state/places';

describe('server-sent events', () => {
  it('are whole whatever the pieces', () => {
    const stream = 'event: a\ndata: {"n":1}\n\n: alive\n\nid: 3\nevent: b\ndata: {}\n\n';
    for (let cut = 1; cut < stream.length; cut += 1) {
      const parser = new EventParser();
      const found = [...parser.push(stream.slice(0, cut)), ...parser.push(stream.slice(cut))];
      expect(found).toEqual([{ name: 'a', data: '{"n":1}' }, { name: 'b', data: '{}' }]);
    }
  });
});

describe('the wait before the stream is opened again', () => {
  it('is anything up to a bound, which grows', () => {
    expect([0, 1, 2, 3, 4, 99].map((failures) => waitAfter(failures, 1))).toEqual([500, 1_000, 2_000, 4_000, 10_000, 10_000]);
    expect(waitAfter(99, 0)).toBe(0);
    const waits = Array.from({ length: 50 }, () => waitAfter(4));
    expect(new Set(waits).size).toBeGreaterThan(10);
  });
});

describe('markdown', () => {
  it('gives no address to a script', () => {
    for (const bad of ['javascript:alert(1)', ' JaVaScRiPt:1', 'data:text/html,x', 'vbscript:x', '//host', 'file:///etc']) {
      expect(linkOf(bad)).toBeUndefined();
    }
    expect(linkOf('https://example.com')).toBe('https://example.com');
  });

  it('shortens a line of megabytes', () => {
    const begun = Date.now();
    expect(JSON.stringify(tokensOf('x'.repeat(2_000_000))).length).toBeLessThan(100_000);
    expect(Date.now() - begun).toBeLessThan(1_000);
  });

  it('observes only what may be taller than a fold', () => {
    expect(mayBeTall('a sentence of a few words')).toBe(false);
    expect(mayBeTall('word '.repeat(40))).toBe(false);
    expect(mayBeTall('line\n'.repeat(30))).toBe(true);
    expect(mayBeTall('word '.repeat(400))).toBe(true);
  });

  it('makes nothing but a paragraph of what is plain', () => {
    const pieces = ['a', 'Élan', '12', ' ', '  ', '.', ',', '-', '--', ':', '://', 'www.', 'WWW.x.org', '(', ')', "'", '"', '!', '?', '/', '%', '…', '[', ']', '*', '_', '`', '@', '\n', '#', '<b>', '&amp;', '~', '1.', 'mailto:', 'x.org', 'http'];
    let state = 7;
    const next = (bound: number) => (state = (state * 48_271) % 2_147_483_647) % bound;
    let found = 0;
    for (let n = 0; n < 20_000; n += 1) {
      const text = Array.from({ length: 1 + next(6) }, () => pieces[next(pieces.length)]).join('');
      if (!isPlain(text)) continue;
      found += 1;
      const [paragraph, ...others] = tokensOf(text);
      expect([paragraph?.type, others.length], text).toEqual(['paragraph', 0]);
      const inner = (paragraph as { tokens: { type: string; text: string }[] }).tokens;
      expect(inner.map((one) => one.type).filter((type) => type !== 'text'), text).toEqual([]);
      expect(inner.map((one) => one.text).join('')).toBe(text);
      expect(withMentions(text)).toEqual([{ text, isMention: false }]);
    }
    expect(found).toBeGreaterThan(500);
    expect(isPlain('I have looked at it; the build is green, and the tests pass (all 12).')).toBe(true);
  });

  it('finds mentions, and no addresses of mail', () => {
    const found = withMentions('@scout and mail@host, (@élise)').filter((piece) => piece.isMention);
    expect(found.map((piece) => piece.text)).toEqual(['@scout', '@élise']);
  });
});

describe('the beginning of a text', () => {
  it('ends between words, and is seen to end', () => {
    expect(excerpt('short', 10)).toBe('short');
    expect(excerpt('two\nlines  of it', 20)).toBe('two lines of it');
    expect(excerpt('ten chars, and more', 10)).toBe('ten chars …');
    expect(excerpt('ten charse and more', 10)).toBe('ten charse …');
    expect(excerpt('a word that breaks', 9)).toBe('a word …');
    expect(excerpt('withoutanyspaceatall', 10)).toBe('withoutan …');
    expect(excerpt('👍👍👍', 3)).toBe('👍 …');
  });
});

describe('times', () => {
  it('are short without AM or PM', () => {
    const short = shortClock('2026-06-02T19:10:00.000Z');
    expect(short).toMatch(/^\d{1,2}\W\d\d$/);
    expect(clock('2026-06-02T19:10:00.000Z').startsWith(short)).toBe(true);
  });
});

describe('names', () => {
  it('hide nothing', () => {
    expect(visible('a\u202Eb\u200B')).toBe('a[U+202E]b[U+200B]');
  });
});

describe('spans', () => {
  it('are short', () => {
    expect([0, 59_400, 61_000, 7_300_000, 172_800_000].map(span)).toEqual(['0 s', '59 s', '1 min', '2 h', '2 d']);
  });
});

describe('addresses', () => {
  it('are read as they are written', () => {
    for (const place of [
      { screen: 'talk' as const },
      { screen: 'talk' as const, conversation: 'ch_1', thread: 'th_2', event: 'evt_3' },
      { screen: 'agents' as const, agent: 'a/b' },
      { screen: 'work' as const, tab: 'jobs' },
      { screen: 'inbox' as const },
    ]) {
      const url = new URL(write(place), 'http://host');
      expect(JSON.parse(JSON.stringify(read(url.pathname, url.hash)))).toEqual(place);
    }
  });
});

describe('what was decided otherwise than shown', () => {
  it('is said, and only that', () => {
    const told = (...ids: string[]) => ids.map((member) => ({ member, policy: 'must_respond' })) as never;
    const name = (id: string) => id;
    expect(difference(told('a'), told('a'), name)).toBeUndefined();
    expect(difference(told('a'), told('b'), name)).toBe('Decided otherwise than shown: also told: b; not told: a.');
  });
});

describe('the name of a file', () => {
  it('is what the host states, in any letters', () => {
    expect(nameIn("attachment; filename*=UTF-8''b%C3%A4r%20%281%29.png")).toBe('bär (1).png');
    expect(nameIn('attachment')).toBe('');
    expect(nameIn("attachment; filename*=UTF-8''%zz")).toBe('');
  });
});
