/** Who is here: members and roles, by id. */
import { api } from '../api/client';
import type { Member, Role } from '../api/types';

export class People {
  members: Record<string, Member> = $state.raw({});
  roles: Role[] = $state.raw([]);

  async load(): Promise<void> {
    const [{ members }, { roles }] = await Promise.all([
      api.get<{ members: Member[] }>('/v1/members'),
      api.get<{ roles: Role[] }>('/v1/roles'),
    ]);
    this.members = Object.fromEntries(members.map((member) => [member.id, member]));
    this.roles = roles;
  }

  name(id: string): string {
    return this.members[id]?.display_name ?? id;
  }

  handle(id: string): string {
    return this.members[id]?.handle ?? id;
  }

  isAgent(id: string): boolean {
    return this.members[id]?.kind === 'agent';
  }

  /** What `@` and some letters may mean, the best first. */
  matching(typed: string): { handle: string; name: string; kind: string }[] {
    const wanted = typed.toLowerCase();
    const members = Object.values(this.members).map((m) => ({ handle: m.handle, name: m.display_name, kind: m.kind }));
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
