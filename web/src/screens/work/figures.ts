/** What the newest messages say of how agents are woken, as numbers. Pure. */
import type { LogEvent } from '../../api/types';

export interface Hour {
  at: number;
  /** Agents that were told, and those that would have been if each message went to every agent. */
  woken: number;
  broadcast: number;
}

export interface Figures {
  messages: number;
  hours: Hour[];
  /** From a question to the answer of the agent that it was for, in milliseconds, shortest first. */
  latencies: number[];
  /** Chains of agents that the host has ended, and timelines that it has paused. */
  stopped: number;
}

const HOUR_MS = 3_600_000;
const TELLS = new Set<string>(['immediate', 'buffered', 'notify']);
const STOPS = new Set<string>(['hop_limit', 'budget_spent']);

export function figuresOf(
  events: readonly LogEvent[],
  isAgent: (member: string) => boolean,
  agentsIn: (conversation: string) => number,
): Figures {
  const posted = events.filter((event) => event.type === 'message_posted' && event.message);
  const byId = new Map(posted.map((event) => [event.event_id, event]));
  const hours = new Map<number, Hour>();
  const latencies: number[] = [];
  let stopped = 0;
  for (const event of posted) {
    const time = Date.parse(event.created_at);
    const at = Math.floor(time / HOUR_MS) * HOUR_MS;
    const hour = hours.get(at) ?? { at, woken: 0, broadcast: 0 };
    hours.set(at, hour);
    const told = event.told ?? [];
    hour.woken += told.filter((one) => TELLS.has(one.mode) && isAgent(one.member)).length;
    hour.broadcast += Math.max(0, agentsIn(event.conversation) - (isAgent(event.actor.id) ? 1 : 0));
    if (told.some((one) => STOPS.has(one.reason))) stopped += 1;
    const asked = byId.get(event.message?.in_reply_to ?? '');
    if (asked?.told?.some((one) => one.member === event.actor.id && isAgent(one.member))) {
      latencies.push(time - Date.parse(asked.created_at));
    }
  }
  return {
    messages: posted.length,
    hours: [...hours.values()].toSorted((a, b) => a.at - b.at),
    latencies: latencies.toSorted((a, b) => a - b),
    stopped,
  };
}

/** The value below which a part of them is; they are in order. */
export function quantile(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
