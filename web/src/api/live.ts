/** The one stream of everything that the person may see. It is opened again whenever it ends. */
import { BASE } from './base';
import { PAGE_HEADERS } from './client';
import { EventParser } from './events';
import type { LogEvent } from './types';

/** The host sends something every 15 s; after three missed the stream is taken for dead. */
const SILENCE_MS = 50_000;
const MOST_MS = [500, 1_000, 2_000, 4_000, 10_000];

/** How long to wait after so many failures: anything up to a bound, so that the pages of a host
 *  that has ended do not all come back at once. `random` is from 0 to 1. */
export function waitAfter(failures: number, random = Math.random()): number {
  return random * (MOST_MS[Math.min(failures, MOST_MS.length - 1)] ?? 0);
}

export interface LiveHandlers {
  /** The stream shows what comes after these seqs, by conversation. */
  hello(heads: Record<string, number>): void;
  event(event: LogEvent): void;
  activity(name: string, data: Record<string, unknown>): void;
  joined(conversation: string, head: number): void;
  left(conversation: string): void;
  changed(kinds: string[]): void;
  state(connected: boolean): void;
  /** The session has ended. */
  signedOut(): void;
}

const ACTIVITY = new Set(['progress', 'typing', 'receipt', 'activity']);

export class LiveStream {
  private readonly handlers: LiveHandlers;
  private failures = 0;
  private abort: AbortController | undefined;
  private isOver = false;

  constructor(handlers: LiveHandlers) {
    this.handlers = handlers;
    addEventListener('online', () => this.abort?.abort());
  }

  async run(): Promise<void> {
    while (!this.isOver) {
      await this.once();
      this.handlers.state(false);
      const wait = waitAfter(this.failures);
      this.failures += 1;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  private async once(): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    let silence = setTimeout(() => abort.abort(), SILENCE_MS);
    try {
      const headers = { ...PAGE_HEADERS, Accept: 'text/event-stream' };
      const answer = await fetch(`${BASE}/v1/live`, { headers, credentials: 'same-origin', signal: abort.signal });
      if (answer.status === 401) {
        this.isOver = true;
        this.handlers.signedOut();
        return;
      }
      if (!answer.ok || answer.body === null) return;
      const parser = new EventParser();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => abort.abort(), SILENCE_MS);
        for (const { name, data } of parser.push(value)) this.take(name, JSON.parse(data));
      }
    } catch {
      // It broke off: the next one says where it begins, and what is missing is fetched.
    } finally {
      clearTimeout(silence);
    }
  }

  private take(name: string, data: Record<string, unknown>): void {
    if (name === 'hello') {
      this.failures = 0;
      this.handlers.state(true);
      this.handlers.hello(data['heads'] as Record<string, number>);
    } else if (name === 'joined') {
      this.handlers.joined(data['conversation'] as string, data['head'] as number);
    } else if (name === 'left') {
      this.handlers.left(data['conversation'] as string);
    } else if (name === 'changed') {
      this.handlers.changed(data['what'] as string[]);
    } else if (ACTIVITY.has(name)) {
      this.handlers.activity(name, data);
    } else {
      this.handlers.event(data as unknown as LogEvent);
    }
  }
}
