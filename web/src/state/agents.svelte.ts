/** The agents, how each is reached, and what it does now. */
import { api } from '../api/client';
import type { Agent, Approval, Wake } from '../api/types';

export type Group = 'needs you' | 'working' | 'idle' | 'asleep' | 'gone';
export const GROUPS: Group[] = ['needs you', 'working', 'idle', 'asleep', 'gone'];

/** The newest word of what an agent does. */
export interface Activity {
  conversation: string;
  event?: string;
  text: string;
  at: number;
  since: number;
}

export class Agents {
  all: Agent[] = $state.raw([]);
  wakes: Wake[] = $state.raw([]);
  activity: Record<string, Activity> = $state({});

  async load(): Promise<void> {
    const [agents, wakes] = await Promise.all([
      api.get<{ agents: Agent[] }>('/v1/agents'),
      api.get<{ wakes: Wake[] }>('/v1/wakes'),
    ]);
    this.all = agents.agents.filter((agent) => !agent.stands_in_for);
    this.wakes = wakes.wakes;
  }

  note(member: string, activity: Omit<Activity, 'since'>): void {
    const before = this.activity[member];
    const goesOn = before !== undefined && before.event === activity.event;
    this.activity[member] = { ...activity, since: goesOn ? before.since : activity.at };
  }

  rests(member: string): void {
    delete this.activity[member];
  }

  group(agent: Agent, approvals: readonly Approval[]): Group {
    if (approvals.some((approval) => approval.agent === agent.id)) return 'needs you';
    if (this.wakes.some((wake) => wake.member === agent.id && wake.state === 'dead')) return 'needs you';
    if (this.activity[agent.id] !== undefined || agent.open_deliveries > 0) return 'working';
    if (agent.online) return 'idle';
    return agent.sessions.some((session) => session.resumable || session.runner) ? 'asleep' : 'gone';
  }
}
