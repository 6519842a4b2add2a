/** The agents, how each is reached, and what it does now. */
import { api } from '../api/client';
import type { Agent, Thread, Wake } from '../api/types';
import type { Waiting } from './waiting.svelte';

export const GROUPS = ['needs you', 'working', 'waiting for a turn', 'paused', 'idle', 'asleep', 'gone'] as const;
export type Group = (typeof GROUPS)[number];

/** Why an agent waits for a person, and since when. */
export interface Need {
  why: string;
  since: string;
}

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
  /** Threads whose owner cannot go on. */
  private blocked: Thread[] = $state.raw([]);
  activity: Record<string, Activity> = $state({});

  async load(): Promise<void> {
    const [agents, wakes, threads] = await Promise.all([
      api.get<{ agents: Agent[] }>('/v1/agents'),
      api.get<{ wakes: Wake[] }>('/v1/wakes'),
      api.get<{ threads: Thread[] }>('/v1/threads', { status: 'blocked' }),
    ]);
    this.blocked = threads.threads;
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

  /** What it waits for a person with; the longest wait first where there are several. */
  need(agent: Agent, waiting: Waiting): Need | undefined {
    const needs: Need[] = [];
    for (const one of waiting.approvals) {
      if (one.agent === agent.id) needs.push({ why: 'asks for approval', since: one.created_at });
    }
    if (agent.asks_since) needs.push({ why: 'has a question', since: agent.asks_since });
    for (const one of this.blocked) {
      if (one.owner === agent.id) needs.push({ why: `is blocked: ${one.title}`, since: one.updated_at });
    }
    for (const one of this.wakes) {
      if (one.member === agent.id && one.state === 'dead') needs.push({ why: 'could not be woken', since: one.changed_at });
    }
    if (agent.held_back && waiting.pausedSeats.has(agent.id)) {
      needs.push({ why: 'has said all that it may without a person', since: '' });
    }
    return needs.toSorted((a, b) => a.since.localeCompare(b.since))[0];
  }

  group(agent: Agent, waiting: Waiting): Group {
    if (this.need(agent, waiting)) return 'needs you';
    if (agent.paused) return 'paused';
    if (this.activity[agent.id] !== undefined) return 'working';
    if (!agent.online) return agent.sessions.some((session) => session.resumable || session.runner) ? 'asleep' : 'gone';
    if (agent.held_back && agent.held_back === agent.open_deliveries) return 'waiting for a turn';
    return agent.open_deliveries > 0 ? 'working' : 'idle';
  }

  /** Whether it is told once it comes back. */
  isAway(id: string): boolean {
    const agent = this.all.find((one) => one.id === id);
    return agent !== undefined && !agent.online && !agent.paused;
  }

  /** How many wait for a person. */
  needing(waiting: Waiting): number {
    return this.all.filter((agent) => this.need(agent, waiting)).length;
  }
}
