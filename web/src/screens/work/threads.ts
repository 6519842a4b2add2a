/** The threads on the Work screen. One that has no title is called by how it began. */
import { api } from '../../api/client';
import type { Message, Thread } from '../../api/types';
import { excerpt, plain, visible } from '../../state/format';
import { member, place, tab, when } from './tab';

const ORDER = ['blocked', 'active', 'resolved', 'closed'];
/** Of so many threads, the first in the list, the beginning is looked up, a few at a time. */
const LOOKED_UP = 60;
const AT_ONCE = 6;
const SHOWN_CHARS = 80;

/** What the root messages say that were looked up, by their events. */
const begun = new Map<string, string>();

async function lookUp(root: string): Promise<void> {
  const message = await api.get<Message>(`/v1/messages/${root}`).catch(() => undefined);
  begun.set(root, message?.text ?? '');
}

async function lookUpAll(threads: Thread[]): Promise<void> {
  const roots = threads.flatMap((thread) => (!thread.title && thread.root && !begun.has(thread.root) ? [thread.root] : [])).slice(0, LOOKED_UP);
  for (let at = 0; at < roots.length; at += AT_ONCE) await Promise.all(roots.slice(at, at + AT_ONCE).map(lookUp));
}

function titleOf(thread: Thread): string {
  const text = thread.title || begun.get(thread.root ?? '') || '';
  if (text !== '') return visible(excerpt(text, SHOWN_CHARS));
  return `${thread.last_seq} ${thread.last_seq === 1 ? 'reply' : 'replies'}`;
}

export const THREADS = tab<Thread>({
  id: 'threads',
  title: 'Threads',
  about: 'Threads by the state of their work: the blocked first.',
  none: 'No thread has begun.',
  columns: [
    { title: 'State', of: (t) => plain(t.work?.status ?? t.status) },
    { title: 'Thread', of: titleOf, to: (t) => ({ screen: 'talk', conversation: t.conversation, thread: t.id }) },
    { title: 'Owner', of: (t) => member(t.owner) },
    { title: 'Where', of: (t) => place(t.conversation) },
    { title: 'Progress', of: (t) => t.work?.progress?.map((p) => `${p.text}${p.percent == null ? '' : ` (${p.percent} %)`}`).join('; ') ?? '' },
    { title: 'Changed', of: (t) => when(t.updated_at) },
  ],
  load: async () => {
    const { threads } = await api.get<{ threads: Thread[] }>('/v1/threads');
    const sorted = threads.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || b.updated_at.localeCompare(a.updated_at));
    await lookUpAll(sorted);
    return sorted;
  },
});
