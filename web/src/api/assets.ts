/** Files of messages: what they are called, and their bytes. */
import { BASE } from './base';
import { PAGE_HEADERS } from './client';

export interface FileFacts {
  name: string;
  type: string;
  bytes: number;
}

const known = new Map<string, Promise<FileFacts | undefined>>();

/** What a file is; nothing where the person may not see it. */
export function factsOf(id: string): Promise<FileFacts | undefined> {
  const asked = known.get(id) ?? ask(id).catch(() => undefined);
  known.set(id, asked);
  return asked;
}

async function ask(id: string): Promise<FileFacts | undefined> {
  const answer = await fetch(`${BASE}/v1/assets/${id}`, { method: 'HEAD', headers: PAGE_HEADERS, credentials: 'same-origin' });
  if (!answer.ok) return undefined;
  const { headers } = answer;
  return {
    name: nameIn(headers.get('content-disposition') ?? ''),
    type: headers.get('content-type') ?? '',
    bytes: Number(headers.get('content-length') ?? 0),
  };
}

/** The name that a `Content-Disposition` states. */
export function nameIn(disposition: string): string {
  const stated = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  try {
    return stated === undefined ? '' : decodeURIComponent(stated);
  } catch {
    return '';
  }
}
