/** Everything that waits for a person: approvals, obligations, dead letters, timelines that have
 *  paused, contested jobs. Each once, the longest wait first. */
import { api } from '../api/client';
import type { Approval, Channel, Delivery, Job, Pause } from '../api/types';

export type Item =
  | { kind: 'approval'; id: string; since: string; approval: Approval }
  | { kind: 'answer'; id: string; since: string; delivery: Delivery }
  | { kind: 'dead'; id: string; since: string; delivery: Delivery }
  | { kind: 'pause'; id: string; since: string; pause: Pause }
  | { kind: 'dispute'; id: string; since: string; job: Job };

export class Waiting {
  approvals: Approval[] = $state.raw([]);
  answers: Delivery[] = $state.raw([]);
  dead: Delivery[] = $state.raw([]);
  pauses: Pause[] = $state.raw([]);
  /** Members of the conversations where agents have paused. */
  pausedSeats: ReadonlySet<string> = $state.raw(new Set());
  /** Contested jobs that an operator is to decide. */
  disputes: Job[] = $state.raw([]);

  readonly items: Item[] = $derived([
    ...this.approvals.map((approval): Item => ({ kind: 'approval', id: approval.id, since: approval.created_at, approval })),
    ...this.answers.map((delivery): Item => ({ kind: 'answer', id: delivery.id, since: delivery.created_at, delivery })),
    ...this.dead.map((delivery): Item => ({ kind: 'dead', id: `dead:${delivery.id}`, since: delivery.created_at, delivery })),
    ...this.pauses.map((pause): Item => ({ kind: 'pause', id: `pause:${pause.thread_id ?? pause.conversation}`, since: '', pause })),
    ...this.disputes.map((job): Item => ({ kind: 'dispute', id: `dispute:${job.job_id}`, since: job.dispute?.opened_at ?? '', job })),
  ].toSorted((a, b) => (a.since || '9').localeCompare(b.since || '9')));

  /** How many obligations there are in a conversation. */
  inConversation(id: string): number {
    return this.answers.filter((delivery) => delivery.conversation === id).length;
  }

  async load(isOperator: boolean): Promise<void> {
    const [approvals, open, dead, pauses, disputed] = await Promise.all([
      api.get<{ approvals: Approval[] }>('/v1/approvals'),
      api.get<{ deliveries: Delivery[] }>('/v1/deliveries', { state: 'open' }),
      api.get<{ deliveries: Delivery[] }>('/v1/deliveries', { state: 'dead' }),
      api.get<{ pauses: Pause[] }>('/v1/pauses'),
      isOperator ? api.get<{ jobs: Job[] }>('/jobs', { side: 'all', disputed: true, limit: 200 }) : { jobs: [] },
    ]);
    this.disputes = disputed.jobs;
    this.approvals = approvals.approvals.filter((approval) => approval.state === 'waiting');
    this.answers = open.deliveries.filter((delivery) => delivery.policy === 'must_respond');
    this.dead = dead.deliveries;
    this.pauses = pauses.pauses;
    this.pausedSeats = new Set((await Promise.all(this.pauses.map((pause) => seats(pause.conversation)))).flat());
  }
}

/** Who sits in a conversation; nobody in one that the person may not see. */
async function seats(conversation: string): Promise<string[]> {
  const channel = await api.get<Channel>(`/v1/channels/${conversation}`).catch(() => undefined);
  return channel?.members?.map((seat) => seat.member) ?? [];
}
