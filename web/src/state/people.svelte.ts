/** Who is here: members and roles, by id. */
import { api } from '../api/client';
import type { Channel, Member, Role } from '../api/types';

export class People {
  members: Record<string, Member> = $state.raw({});
  roles: Role[] = $state.raw([]);
  /** Names that agents have in one conversation alone, by conversation and member. */
  private seats: Record<string, Record<string, string>> = $state.raw({});

  /** Everything that `@` may name, as the host compares it. */
  private readonly named: ReadonlySet<string> = $derived(
    new Set([...Object.values(this.members).map((member) => member.handle), ...this.roles.map((role) => role.name)].map((name) => name.toLowerCase())),
  );

  async load(): Promise<void> {
    const [{ members }, { roles }] = await Promise.all([
      api.get<{ members: Member[] }>('/v1/members'),
      api.get<{ roles: Role[] }>('/v1/roles'),
    ]);
    this.members = Object.fromEntries(members.map((member) => [member.id, member]));
    this.roles = roles;
  }

  /** Looks up how members are called in a conversation. */
  async loadSeats(conversation: string): Promise<void> {
    const { members } = await api.get<Channel>(`/v1/channels/${conversation}`);
    const own = (members ?? []).filter((seat) => seat.display === 'manual' && seat.display_name !== '');
    this.seats = { ...this.seats, [conversation]: Object.fromEntries(own.map((seat) => [seat.member, seat.display_name])) };
  }

  hasSeats(conversation: string): boolean {
    return this.seats[conversation] !== undefined;
  }

  /** How a member is called: everywhere, or in a conversation. */
  name(id: string, conversation?: string | null): string {
    const here = conversation ? this.seats[conversation]?.[id] : undefined;
    return here ?? this.members[id]?.display_name ?? id;
  }

  /** Whether `@` and this word name a member or a role. */
  isNamed(word: string): boolean {
    const name = word.toLowerCase();
    return this.named.has(name) || this.named.has(name.replace(/[-_]+$/, ''));
  }

  handle(id: string): string {
    return this.members[id]?.handle ?? id;
  }

  isAgent(id: string): boolean {
    return this.members[id]?.kind === 'agent';
  }

  /** What `@` and some letters may mean, the best first. */
  matching(typed: string, conversation: string): { handle: string; name: string; kind: string }[] {
    const wanted = typed.toLowerCase();
    const members = Object.values(this.members).map((m) => ({ handle: m.handle, name: this.name(m.id, conversation), kind: m.kind }));
    const roles = this.roles.map((r) => ({ handle: r.name, name: `${r.members.length} members`, kind: 'role' }));
    const rank = (handle: string, name: string) => {
      if (handle.toLowerCase().startsWith(wanted)) return 0;
      return name.toLowerCase().includes(wanted) || handle.toLowerCase().includes(wanted) ? 1 : 2;
    };
    return [...members, ...roles]
      .map((one) => ({ one, rank: rank(one.handle, one.name) }))
      .filter(({ rank }) => rank < 2)
      .sort((a, b) => a.rank - b.rank || a.one.handle.localeCompare(b.one.handle))
      .slice(0, 8)
      .map(({ one }) => one);
  }
}
