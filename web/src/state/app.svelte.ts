/** The page's state, wired together: what the live stream says goes where it belongs. */
import { api, ApiError } from '../api/client';
import { LiveStream } from '../api/live';
import type { LogEvent, Posted, Told, Whoami } from '../api/types';
import { difference } from './difference';
import { notifyOf } from './notifications';
import { Answering } from './answering.svelte';
import { Agents } from './agents.svelte';
import { Channels } from './channels.svelte';
import { Conversation } from './conversation.svelte';
import { Outbox, type Pending } from './outbox.svelte';
import { People } from './people.svelte';
import { Router } from './router.svelte';
import { Toasts } from './toasts.svelte';
import { Waiting } from './waiting.svelte';

const FRAME_MS = 16;
/** Entries after which a member may be called otherwise in a conversation. */
const ABOUT_SEATS = new Set(['settings_changed', 'member_joined', 'member_left']);

export type Status = 'starting' | 'ready' | 'signed-out' | 'failed';

class App {
  status: Status = $state('starting');
  isConnected = $state(false);
  who: Whoami | undefined = $state.raw();
  problem: string | undefined = $state();
  /** Who types where: conversation to member to when it was said. */
  typing: Record<string, Record<string, number>> = $state({});
  /** Counts up with each receipt, so that what shows receipts looks again. */
  receipts = $state(0);

  readonly router = new Router();
  readonly toasts = new Toasts();
  readonly people = new People();
  readonly agents = new Agents();
  readonly waiting = new Waiting();
  readonly answering = new Answering();
  readonly channels = new Channels(() => this.me, (id) => this.people.name(id));
  readonly outbox: Outbox = new Outbox((pending, posted) => this.posted(pending, posted));
  private readonly conversations = new Map<string, Conversation>();
  private came: LogEvent[] = [];
  private readonly due = new Map<string, ReturnType<typeof setTimeout>>();

  get me(): string {
    return this.who?.member.id ?? '';
  }

  get isOperator(): boolean {
    return this.who?.role === 'operator';
  }

  /** May change what belongs to others: channels, who is in them, and agents. */
  get governs(): boolean {
    return this.isOperator || this.who?.role === 'orchestrator';
  }

  async start(): Promise<void> {
    try {
      this.who = await api.get<Whoami>('/v1/whoami');
      await Promise.all([this.people.load(), this.channels.load(), this.agents.load(), this.loadWaiting()]);
      this.status = 'ready';
    } catch (error) {
      const isOut = error instanceof ApiError && error.status === 401;
      this.status = isOut ? 'signed-out' : 'failed';
      this.problem = (error as Error).message;
      return;
    }
    void new LiveStream({
      hello: (heads) => void this.hello(heads),
      event: (event) => this.event(event),
      activity: (name, data) => this.happens(name, data),
      joined: () => this.soon('channels', () => this.channels.load()),
      left: () => this.soon('channels', () => this.channels.load()),
      changed: (kinds) => this.changed(kinds),
      state: (connected) => {
        this.isConnected = connected;
      },
      signedOut: () => {
        this.status = 'signed-out';
      },
    }).run();
  }

  loadWaiting(): Promise<void> {
    return this.waiting.load(this.isOperator);
  }

  conversation(id: string): Conversation {
    let found = this.conversations.get(id);
    if (found === undefined) {
      found = new Conversation(id);
      this.conversations.set(id, found);
    }
    return found;
  }

  /** Everything that was missed while nothing was heard. */
  private async hello(heads: Record<string, number>): Promise<void> {
    for (const conversation of this.conversations.values()) void conversation.follow(heads[conversation.id] ?? 0);
    for (const [id, head] of Object.entries(heads)) {
      if (head <= (this.channels.heads[id] ?? 0)) continue;
      this.channels.heads[id] = head;
      this.namesOf(id);
      if (this.channels.get(id) !== undefined) void this.channels.count(id).catch(() => undefined);
    }
    this.changed(['members', 'channels', 'agents', 'approvals', 'deliveries']);
    await this.outbox.flush();
  }

  /** Names in a conversation are looked up again, if they were looked up. */
  private namesOf(id: string): void {
    if (this.people.hasSeats(id)) this.soon(`names ${id}`, () => this.people.loadSeats(id));
  }

  /** What comes within a frame is shown together. */
  private event(event: LogEvent): void {
    if (this.came.push(event) === 1) setTimeout(() => this.flush(), FRAME_MS);
  }

  private flush(): void {
    const events = this.came;
    this.came = [];
    for (const [id, some] of Map.groupBy(events, (event) => event.conversation)) this.conversations.get(id)?.take(some);
    for (const event of events) this.one(event);
  }

  private one(event: LogEvent): void {
    this.channels.take(event);
    if (ABOUT_SEATS.has(event.type)) this.namesOf(event.conversation);
    const conversation = this.conversations.get(event.conversation);
    if (event.type !== 'message_posted' || !event.message) return;
    if (event.actor.id === this.me) {
      const row = conversation?.row(event.message.event_id);
      if (row !== undefined) this.outbox.saw(row);
      return;
    }
    this.agents.rests(event.actor.id);
    const typing = this.typing[event.conversation];
    if (typing !== undefined) delete typing[event.actor.id];
    const mine = event.told?.find((told) => told.member === this.me);
    if (mine !== undefined) notifyOf(event.message, this.channels.get(event.conversation), () => this.show(event));
  }

  private show(event: LogEvent): void {
    const thread = event.message?.thread_id ?? undefined;
    this.router.go({ screen: 'talk', conversation: event.conversation, thread, event: event.event_id });
  }

  private happens(name: string, data: Record<string, unknown>): void {
    const conversation = data['conversation'] as string;
    if (name === 'typing') {
      const author = data['author'] as string;
      const here = (this.typing[conversation] ??= {});
      if (data['typing'] === true && author !== this.me) here[author] = Date.now();
      else delete here[author];
    } else if (name === 'receipt') {
      this.receipts += 1;
      this.receipt(conversation, data as unknown as ReceiptOf);
    } else {
      const member = data['member'] as string | undefined;
      const event = data['event_id'] as string | undefined;
      if (member !== undefined) {
        this.agents.note(member, { conversation, event, text: wordsOf(data), at: Date.now() });
      }
    }
  }

  /** How the deliveries of a message of this person's stand. */
  private receipt(conversation: string, { event_id: event, deliveries }: ReceiptOf): void {
    for (const { member, receipt } of deliveries) {
      const before = this.agents.activity[member];
      if (receipt.state === 'accepted') {
        const text = before?.event === event ? before.text : '';
        this.agents.note(member, { conversation, event, text, at: Date.now() });
      } else if ((receipt.state === 'settled' || receipt.state === 'dead') && before?.event === event) {
        this.agents.rests(member);
      }
    }
  }

  private changed(kinds: string[]): void {
    if (kinds.includes('members')) this.soon('people', () => this.people.load());
    if (kinds.includes('channels')) this.soon('channels', () => this.channels.load());
    if (['agents', 'sessions', 'wakes', 'turns'].some((kind) => kinds.includes(kind))) {
      this.soon('agents', () => this.agents.load());
    }
    if (kinds.includes('deliveries')) this.soon('answering', () => this.answering.load());
    if (['approvals', 'deliveries', 'pauses', 'jobs'].some((kind) => kinds.includes(kind))) {
      this.soon('waiting', () => this.loadWaiting());
    }
  }

  /** Several reasons within a moment are one request. */
  private soon(what: string, load: () => Promise<void>): void {
    if (this.due.has(what)) return;
    const run = () => {
      this.due.delete(what);
      void load().catch(() => undefined);
    };
    this.due.set(what, setTimeout(run, 200));
  }

  private posted(pending: Pending, posted: Posted): void {
    const { message } = pending;
    const author = { id: this.me, kind: 'human', display_name: this.people.name(this.me) };
    this.conversations.get(posted.conversation)?.takeMessage(
      {
        ...posted,
        author,
        kind: 'chat',
        hop: 0,
        text: message.text,
        thread_id: posted.thread_id ?? undefined,
        in_reply_to: message.in_reply_to,
      } as never,
      posted.told,
    );
    const previewed = this.previewed.get(pending.key);
    this.previewed.delete(pending.key);
    const changed = previewed && difference(previewed, posted.told, (id) => this.people.name(id, posted.conversation));
    if (changed !== undefined) this.toasts.say(changed);
    // A hint may have come before it was known here who is told.
    this.soon('answering', () => this.answering.load());
  }

  /** Who was to be told, by the preview that the person saw, of messages on their way. */
  readonly previewed = new Map<string, Told[]>();
}

interface ReceiptOf {
  event_id: string;
  deliveries: { member: string; receipt: { state: string } }[];
}

/** What an agent says that it does: of a progress its message, of a callback its text. */
function wordsOf(data: Record<string, unknown>): string {
  const text = data['message'] ?? data['text'] ?? data['detail'];
  return typeof text === 'string' ? text : '';
}

export const app = new App();
