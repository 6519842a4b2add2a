/** A tab of the Work screen: a list of the host's as a table, and how its columns are written. */
import { app } from '../../state/app.svelte';
import { clock, day, visible } from '../../state/format';
import type { Place } from '../../state/places';

export interface Column<T> {
  title: string;
  of: (row: T) => string;
  /** Where it leads. */
  to?: (row: T) => Place;
  isNumber?: boolean;
}

/** What can be done about a row. */
export interface Act<T> {
  title: string;
  /** Whether it can be done about this one; always by default. */
  when?: (row: T) => boolean;
  /** Nothing where the person has thought better of it. */
  run: (row: T) => Promise<unknown> | undefined;
  done: string;
}

export interface Tab<T = never> {
  id: string;
  title: string;
  /** Its list is refused to others. */
  isForOperators?: boolean;
  acts?: Act<T>[];
  about: string;
  /** What is said where the list is empty, and the command that changes that. */
  none: string;
  how?: { command: string; does: string };
  columns: Column<T>[];
  /** Rows that are history: shown only when asked for, and last. */
  past?: { title: string; is: (row: T) => boolean };
  load: () => Promise<T[]>;
}

export function tab<T>(given: Tab<T>): Tab {
  return given as unknown as Tab;
}

export const when = (time: string | null | undefined) => (time ? `${day(time)}, ${clock(time)}` : '');
export const member = (id: string | null | undefined) => (id ? `@${app.people.handle(id)}` : '');
export const place = (id: string) => {
  const channel = app.channels.get(id);
  return channel ? `#${visible(app.channels.title(channel))}` : id;
};
