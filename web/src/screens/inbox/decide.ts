/** What a person does about an item of the inbox. Each is decided once: the host refuses a second
 *  decision, and the item goes when the first is in. */
import { api } from '../../api/client';
import type { Job } from '../../api/types';
import { app } from '../../state/app.svelte';
import type { Item } from '../../state/waiting.svelte';

async function done(what: Promise<unknown>, sentence: string): Promise<void> {
  await app.toasts.attempt(what, sentence);
  await app.loadWaiting();
}

export async function approve(item: Item, note?: string): Promise<void> {
  switch (item.kind) {
    case 'approval':
      return done(api.post(`/v1/approvals/${item.approval.id}`, { approved: true }), 'Approved.');
    case 'dead':
      return done(api.post(`/v1/deliveries/${encodeURIComponent(item.delivery.id)}/redeliver`), 'Sent again.');
    case 'pause': {
      const { thread_id: thread, conversation } = item.pause;
      const path = thread ? `/v1/threads/${thread}/continue` : `/v1/channels/${conversation}/continue`;
      return done(api.post(path), 'The agents go on.');
    }
    case 'dispute':
      return decideDispute(item.job, false, note);
    case 'answer':
      return open(item);
  }
}

export async function decline(item: Item, reason?: string): Promise<void> {
  if (item.kind === 'dispute') return decideDispute(item.job, true, reason);
  if (item.kind !== 'approval') return;
  return done(api.post(`/v1/approvals/${item.approval.id}`, { approved: false, reason }), 'Declined.');
}

async function decideDispute(job: Job, refund: boolean, note: string | undefined): Promise<void> {
  if (!note) return app.toasts.say('Say why: both sides read it.', true);
  const sentence = refund ? 'What was paid goes back.' : 'The payment stands.';
  return done(api.post(`/jobs/${job.job_id}/dispute/decision`, { refund, note }), sentence);
}

/** Where an item was said. */
export function open(item: Item): void {
  const to = (conversation: string, event?: string, thread?: string) =>
    app.router.go({ screen: 'talk', conversation, thread, event });
  if (item.kind === 'approval') {
    const { source_conversation: source, conversation, source_event: event } = item.approval;
    const where = source ?? conversation;
    if (where) to(where, event ?? undefined);
  } else if (item.kind === 'pause') {
    to(item.pause.conversation, undefined, item.pause.thread_id ?? undefined);
  } else if (item.kind === 'dispute') {
    app.router.go({ screen: 'work', tab: 'jobs' });
  } else {
    to(item.delivery.conversation, item.delivery.event_id);
  }
}
