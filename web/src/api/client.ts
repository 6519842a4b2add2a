/** REST: one function a method. A refusal is an `ApiError` with the host's code and sentence. */

import { BASE } from './base';

export class ApiError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status: number) {
    super(message);
    this.code = code;
    this.status = status;
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    return [0, 429, 502, 503].includes(this.status);
  }
}

/** No other site can send it, and with it the host takes the session's cookie. */
export const PAGE_HEADERS: Record<string, string> = { 'X-Chorus-Page': '1' };

type Query = Record<string, string | number | boolean | undefined>;

function withQuery(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method, headers: { ...PAGE_HEADERS }, credentials: 'same-origin' };
  if (signal !== undefined) init.signal = signal;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    (init.headers as Record<string, string>)['Content-Type'] = 'application/json';
  }
  let answer: Response;
  try {
    answer = await fetch(BASE + path, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError('UNAVAILABLE', 'The host does not answer.', 0);
  }
  const text = await answer.text();
  if (answer.ok) return (text === '' ? undefined : JSON.parse(text)) as T;
  throw refusal(text, answer.status);
}

function refusal(text: string, status: number): ApiError {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return new ApiError(error.code, error.message, status);
  } catch {
    return new ApiError('INTERNAL', `The host answered with status ${status}.`, status);
  }
}

export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) =>
    send<T>('GET', withQuery(path, query), undefined, signal),
  post: <T>(path: string, body?: unknown, signal?: AbortSignal) =>
    send<T>('POST', path, body ?? {}, signal),
  put: <T>(path: string, body: unknown) => send<T>('PUT', path, body),
  patch: <T>(path: string, body: unknown) => send<T>('PATCH', path, body),
  delete: <T>(path: string, query?: Query) => send<T>('DELETE', withQuery(path, query)),
};

/** A file of a message, as the page may show it: the host serves files for downloads only. */
export async function blobOf(path: string): Promise<Blob> {
  const answer = await fetch(BASE + path, { headers: PAGE_HEADERS, credentials: 'same-origin' });
  if (!answer.ok) throw refusal(await answer.text(), answer.status);
  return answer.blob();
}
