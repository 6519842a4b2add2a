/** Times, sizes and names as people read them. */

const DAY_MS = 86_400_000;

// Made once: to make one of these takes many times as long as to use it.
const CLOCK = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit' });
const FULL = new Intl.DateTimeFormat([], { dateStyle: 'full', timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat([], { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });

export function clock(time: string): string {
  return CLOCK.format(Date.parse(time));
}

/** Without AM or PM, for where it has little room. */
export function shortClock(time: string): string {
  const parts = CLOCK.formatToParts(Date.parse(time)).filter((part) => part.type !== 'dayPeriod');
  return parts.map((part) => part.value).join('').trim();
}

export function seconds(time: string): string {
  return new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

export function fullTime(time: string): string {
  return FULL.format(Date.parse(time));
}

/** When the day of a moment began here, in milliseconds since 1970. */
export function midnight(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}

export function day(time: string, now = Date.now()): string {
  const at = Date.parse(time);
  const today = midnight(now);
  const isLater = at >= today + DAY_MS;
  if (!isLater && at >= today) return 'Today';
  if (!isLater && at >= today - DAY_MS) return 'Yesterday';
  return DAY.format(at);
}

/** How long ago or how long for: 12 s, 4 min, 3 h, 2 d. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function ago(time: string, now: number): string {
  return span(now - Date.parse(time));
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(0)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

/** The beginning of a text, on one line: cut between words, and seen to be cut. */
export function excerpt(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most + 1);
  const space = cut.lastIndexOf(' ');
  const kept = space > most / 2 ? cut.slice(0, space) : [...line.slice(0, most)].slice(0, -1).join('');
  return `${kept.replace(/[\s.,;:]+$/, '')} …`;
}

const HIDDEN = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** A name in which what would hide or turn its letters is seen. */
export function visible(name: string): string {
  return name.replace(HIDDEN, (c) => `[U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`);
}

/** `must_respond` as people write it. */
export function plain(word: string): string {
  return word.replaceAll('_', ' ');
}
