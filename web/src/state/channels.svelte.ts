/** Channels and direct messages, and what of each is unread. */
import { api } from '../api/client';
import type { Channel, Cursor, LogEvent, Message } from '../api/types';

const COUNTED = 100;

export class Channels {
  all: Channel[] = $state.raw([]);
  /** Messages of others that were not read, by conversation. */
  unread: Record<string, number> = $state({});
  /** What was read last, by conversation. */
  read: Record<string, number> = $state({});
  heads: Record<string, number> = {};
  private readonly due = new Map<string, ReturnType<typeof setTimeout>>();

  /** Who else is in a direct message, by conversation. */
  private others: Record<string, string[]> = $state({});

  constructor(
    private readonly me: () => string,
    private readonly name: (member: string) => string,
  ) {}

  get(id: string): Channel | undefined {
    return this.all.find((channel) => channel.id === id);
  }

  async load(): Promise<void> {
    const { channels } = await api.get<{ channels: Channel[] }>('/v1/channels');
    this.all = channels.filter((channel) => !channel.archived);
    for (const channel of channels) {
      this.heads[channel.id] = Math.max(this.heads[channel.id] ?? 0, channel.last_seq);
    }
    const direct = this.all.filter((channel) => channel.kind === 'dm' && this.others[channel.id] === undefined);
    await Promise.all([...this.all.map((channel) => this.count(channel.id)), ...direct.map((channel) => this.seats(channel.id))]);
  }

  /** Counts what is unread. */
  async count(id: string): Promise<void> {
    const cursor = await api.get<Cursor>(`/v1/cursors/${id}`);
    // What was read here a moment ago may not have arrived there.
    const read = Math.max(cursor.last_read_seq, this.read[id] ?? 0);
    this.read[id] = read;
    if (read >= cursor.last_seq) {
      this.unread[id] = 0;
      return;
    }
    const { messages } = await api.get<{ messages: Message[] }>('/v1/messages', {
      conversation: id,
      after_seq: read,
      limit: COUNTED,
    });
    this.unread[id] = messages.filter((message) => message.author.id !== this.me()).length;
  }

  take(event: LogEvent): void {
    const id = event.conversation;
    this.heads[id] = Math.max(this.heads[id] ?? 0, event.seq);
    const isNews = event.type === 'message_posted' && event.actor.id !== this.me();
    if (isNews && event.seq > (this.read[id] ?? 0)) this.unread[id] = (this.unread[id] ?? 0) + 1;
  }

  /** The person has seen everything up to this seq. */
  markRead(id: string, seq: number): void {
    if (seq <= (this.read[id] ?? 0)) return;
    this.read[id] = seq;
    this.unread[id] = 0;
    clearTimeout(this.due.get(id));
    const put = () => void api.put(`/v1/cursors/${id}`, { last_read_seq: seq }).catch(() => undefined);
    this.due.set(id, setTimeout(put, 400));
  }

  /** How it is called: a direct message by who else is in it. */
  title(channel: Channel): string {
    const others = this.others[channel.id] ?? [];
    if (channel.kind === 'dm' && others.length > 0) return others.map((member) => this.name(member)).join(', ');
    return channel.title || (channel.kind === 'dm' ? 'direct message' : channel.id);
  }

  private async seats(id: string): Promise<void> {
    const channel = await api.get<Channel>(`/v1/channels/${id}`).catch(() => undefined);
    this.others[id] = channel?.members?.map((seat) => seat.member).filter((member) => member !== this.me()) ?? [];
  }
}
