/** Times, sizes and names as people read them. */

const DAY_MS = 86_400_000;

export function clock(time: string): string {
  return new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

export function seconds(time: string): string {
  return new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

export function fullTime(time: string): string {
  return new Date(time).toLocaleString([], { dateStyle: 'full', timeStyle: 'medium' });
}

export function day(time: string, now = Date.now()): string {
  const date = new Date(time);
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const isLater = date.getTime() >= midnight + DAY_MS;
  if (!isLater && date.getTime() >= midnight) return 'Today';
  if (!isLater && date.getTime() >= midnight - DAY_MS) return 'Yesterday';
  return date.toLocaleDateString([], { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
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

const HIDDEN = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** A name in which what would hide or turn its letters is seen. */
export function visible(name: string): string {
  return name.replace(HIDDEN, (c) => `[U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`);
}

/** `must_respond` as people write it. */
export function plain(word: string): string {
  return word.replaceAll('_', ' ');
}
