/** A conversation as far as it is loaded: a window of its log, its rows and its threads. The window
 *  ends with the newest entry, unless the person has gone far back; then it follows the reading. */
import { api } from '../api/client';
import type { LogEvent, Message } from '../api/types';
import { decisionsOn } from './decisions';
import { isAboutThreads, Rows, type Row } from './rows';
import { Threads } from './threads.svelte';

const PAGE = 200;
const RETRY_MS = 1_000;
/** Further back than so many entries a window of its own is opened there. */
const FAR = 5 * PAGE;
/** So many messages of the main line are kept at the most; beyond that, only those next to what is read. */
const MOST = 3_000;
const KEPT = 2_000;
const MAIN = '';

export class Conversation {
  readonly id: string;
  readonly threads: Threads;
  rows: readonly Row[] = $state.raw([]);
  /** Nothing before the first row is left. */
  isWhole = $state(false);
  isLoading = $state(false);
  error: string | undefined = $state();
  /** Every entry up to this seq was taken in. */
  last = $state(0);
  /** The window ends here; with the newest entry, while nobody has gone back. */
  private end: number | undefined = $state();

  private mainOf: readonly Row[] = [];
  private filtered: readonly Row[] = [];
  private log = new Rows();
  /** Entries after this seq are loaded. */
  private first = 0;
  private opened: Promise<void> | undefined;
  /** The stream has shown everything after `last`, so that what it shows next follows. */
  private isSynced = false;
  private newest = 0;
  private reading: Promise<void> | undefined;
  /** What came while a page is read, for each such page. */
  private readonly late = new Set<LogEvent[]>();
  /** What somebody looks at: the main line, and threads by their ids. */
  private readonly looked = new Set<string>();

  constructor(id: string) {
    this.id = id;
    this.threads = new Threads(id);
  }

  /** Messages of the main timeline. No `$derived`: that would end with the pane that opened this. */
  get main(): readonly Row[] {
    if (this.mainOf !== this.rows) {
      this.mainOf = this.rows;
      this.filtered = this.rows.filter((row) => !row.message.thread_id);
    }
    return this.filtered;
  }

  inThread(thread: string): readonly Row[] {
    return this.rows.filter((row) => row.message.thread_id === thread);
  }

  /** Somebody looks at a thread, or at the main line; gives what ends that. */
  look(at: string = MAIN): () => void {
    this.looked.add(at);
    return () => this.looked.delete(at);
  }

  row(event: string): Row | undefined {
    return this.log.get(event);
  }

  /** Loads the newest entries, once. */
  open(head: number): Promise<void> {
    this.opened ??= this.load(head);
    return this.opened;
  }

  private async load(head: number): Promise<void> {
    this.isLoading = true;
    this.error = undefined;
    try {
      // What is read already begins elsewhere.
      await this.reading?.catch(() => undefined);
      this.isSynced = false;
      this.first = this.last = Math.max(0, head - PAGE);
      await Promise.all([this.catchUp(), this.threads.load()]);
      this.isWhole = this.first === 0;
      // What was removed by retention, or is not for this person, leaves a window empty.
      for (let tries = 0; this.main.length < 30 && !this.isWhole && tries < 5; tries += 1) await this.page();
    } catch (error) {
      this.error = (error as Error).message;
      this.opened = undefined;
    } finally {
      this.isLoading = false;
    }
  }

  /** Loads entries before the first; says whether there were any. */
  async older(): Promise<void> {
    if (this.isLoading || this.isWhole) return;
    this.isLoading = true;
    await this.page().finally(() => (this.isLoading = false));
  }

  private async page(): Promise<void> {
    const { first, log } = this;
    const after = Math.max(0, first - PAGE);
    const { events } = await this.read(after, first - after);
    // It joins nothing if the window has begun elsewhere since.
    if (this.log !== log || this.first !== first) return;
    this.first = after;
    this.isWhole = after === 0;
    if (this.log.take(events)) this.rows = this.log.all;
  }

  /** Whether there is more after the last row, because the person has gone back. */
  get isBehind(): boolean {
    return this.end !== undefined;
  }

  /** Loads an event and what surrounds it; says whether it is there. */
  async reach(event: string): Promise<boolean> {
    if (this.log.get(event) !== undefined) return true;
    try {
      await this.reachSeq((await api.get<Message>(`/v1/messages/${event}`)).seq);
    } catch {
      return false;
    }
    return this.log.get(event) !== undefined;
  }

  /** Loads the first message on or after a time, and what surrounds it. */
  async reachTime(time: string): Promise<string | undefined> {
    let [before, after] = [0, Math.max(this.last, this.newest)];
    while (before < after) {
      const middle = Math.floor((before + after) / 2);
      const { events } = await this.read(middle, 1);
      const next = events[0];
      if (next === undefined || next.created_at >= time) after = middle;
      else before = next.seq;
    }
    await this.reachSeq(before + 1);
    return this.main.find((row) => row.message.created_at >= time)?.event;
  }

  private async reachSeq(seq: number): Promise<void> {
    const isAfter = this.end !== undefined && seq > this.end;
    if (isAfter || this.first - seq > FAR) return this.openAt(seq);
    while (this.first >= seq && !this.isWhole) await this.page();
  }

  /** Begins anew around an entry that is far from what is loaded. */
  private async openAt(seq: number): Promise<void> {
    const first = Math.max(0, seq - PAGE / 2);
    const { events, end } = await this.readAfter(first);
    this.log = new Rows();
    this.first = first;
    this.isWhole = first === 0;
    this.end = end;
    this.log.take(events);
    this.rows = this.log.all;
  }

  /** Loads what follows the window, until it ends with the newest entry again. */
  async newer(): Promise<void> {
    if (this.isLoading || this.end === undefined) return;
    const { end: before, log } = this;
    this.isLoading = true;
    try {
      const { events, end } = await this.readAfter(before);
      if (this.log !== log || this.end !== before) return;
      this.end = end;
      if (this.log.take(events)) this.rows = this.log.all;
    } finally {
      this.isLoading = false;
    }
  }

  /** Reads on; without an end nothing follows, and then what came during the request belongs to it. */
  private async readAfter(after: number): Promise<{ events: LogEvent[]; end: number | undefined }> {
    const late: LogEvent[] = [];
    this.late.add(late);
    const { events, has_more } = await this.read(after, PAGE).finally(() => this.late.delete(late));
    if (!has_more) return { events: [...events, ...late], end: undefined };
    return { events, end: Math.max(after, ...events.map((event) => event.seq)) };
  }

  /** Lets go of what is far from where the person reads: the oldest, or the newest. */
  trim(whatIsFar: 'oldest' | 'newest'): void {
    const main = this.main;
    if (main.length <= MOST) return;
    const isOldest = whatIsFar === 'oldest';
    const edge = (isOldest ? main[main.length - KEPT] : main[KEPT - 1])?.seq ?? 0;
    this.log.keep(({ message, seq }) => Boolean(message.thread_id) || (isOldest ? seq >= edge : seq <= edge));
    if (isOldest) {
      this.first = edge - 1;
      this.isWhole = false;
    } else {
      this.end = edge;
    }
    this.rows = this.log.all;
  }

  /** Goes back to the newest entries. */
  async toNewest(): Promise<void> {
    if (this.end === undefined) return;
    const head = Math.max(this.last, this.newest);
    this.log = new Rows();
    this.end = undefined;
    this.opened = undefined;
    await this.open(head);
  }

  /** The stream begins after this seq: what is missing until there is read, however often that fails. */
  async follow(head: number): Promise<void> {
    this.isSynced = false;
    while (head > this.last) {
      try {
        await this.catchUp();
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    this.synced();
  }

  /** Reads what came after the last entry. */
  catchUp(): Promise<void> {
    this.reading ??= this.readOn().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readOn(): Promise<void> {
    for (;;) {
      const { events, has_more } = await this.read(this.last, PAGE);
      this.show(events);
      this.last = Math.max(this.last, ...events.map((event) => event.seq));
      if (!has_more) return this.synced();
    }
  }

  private synced(): void {
    this.isSynced = true;
    this.last = Math.max(this.last, this.newest);
  }

  private read(after: number, limit: number) {
    return api.get<{ events: LogEvent[]; has_more: boolean }>('/v1/events', {
      conversation: this.id,
      after,
      limit,
    });
  }

  /** Entries as the stream shows them. Until what is missing before them was read they prove nothing. */
  take(events: readonly LogEvent[]): void {
    this.newest = Math.max(this.newest, ...events.map((event) => event.seq));
    if (this.isSynced) this.last = Math.max(this.last, this.newest);
    this.show(events);
  }

  private show(events: readonly LogEvent[]): void {
    for (const late of this.late) late.push(...events);
    // Far back, what is new is not shown; what changes a message that is there is.
    const here = events.filter((event) => event.message && this.isHere(event.message));
    if (this.log.take(here)) this.rows = this.log.all;
    if (!this.looked.has(MAIN)) this.trim('oldest');
    if (this.rows.length - this.main.length > MOST && this.log.trimThreads(this.looked, MOST, KEPT)) this.rows = this.log.all;
    if (events.some(isAboutThreads) || events.some((event) => event.thread_id)) this.threads.loadSoon();
  }

  takeMessage(message: Message, told?: Row['told']): void {
    if (!this.isHere(message)) return;
    this.log.takeMessage(message, told);
    this.rows = this.log.all;
  }

  /** Asks what was decided on the newest edit of a message, where its entry is not loaded. */
  async decide(event: string): Promise<void> {
    this.log.takeDecision(event, (await decisionsOn(event)).now);
    this.rows = this.log.all;
  }

  /** Threads are shown whole, whatever the window of the main line is. */
  private isHere(message: Message): boolean {
    return this.end === undefined || message.seq <= this.end || Boolean(message.thread_id);
  }

  /** Messages of a thread whose entries are older than the window. */
  async loadThread(thread: string): Promise<void> {
    const { messages } = await api.get<{ messages: Message[] }>('/v1/messages', { conversation: this.id, thread, limit: 200 });
    for (const message of messages) {
      if (this.log.get(message.event_id) === undefined) this.log.takeMessage(message);
    }
    this.rows = this.log.all;
  }
}
