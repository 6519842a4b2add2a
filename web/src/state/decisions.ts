/** What the host decided on a message. An edit is decided on anew, and its decision is the one that
 *  counts. */
import { api } from '../api/client';
import type { Why } from '../api/types';

export interface Decisions {
  /** On the newest version. */
  now: Why;
  /** On the message as it was said at first, if it was edited since. */
  first: Why | undefined;
}

export async function decisionsOn(event: string): Promise<Decisions> {
  const why = await api.get<Why>(`/v1/events/${event}/attention`);
  const newest = why.newest_version;
  if (!newest || newest === event) return { now: why, first: undefined };
  return { now: await api.get<Why>(`/v1/events/${newest}/attention`), first: why };
}
