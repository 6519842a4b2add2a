/** Who would be told of what stands in the composer: the host's own decision for exactly this. */
import { api } from '../../api/client';
import type { NewMessage, Preview } from '../../api/types';

const SETTLE_MS = 150;

/** Who would be woken, or may at least nod. */
export function toldOf(preview: Preview | undefined): Preview['told'] {
  return (preview?.told ?? []).filter((one) => one.policy !== 'must_not_respond');
}

export class PreviewOf {
  now: Preview | undefined = $state.raw();
  /** The message that it is of. */
  private of = '';
  private due: ReturnType<typeof setTimeout> | undefined;
  private abort: AbortController | undefined;

  ask(message: NewMessage): void {
    clearTimeout(this.due);
    this.abort?.abort();
    if ((message.text ?? '').trim() === '') {
      this.now = undefined;
      return;
    }
    this.due = setTimeout(() => void this.fetch(message), SETTLE_MS);
  }

  /** The decision for exactly this message, if it is here already. */
  for(message: NewMessage): Preview | undefined {
    return this.of === JSON.stringify(message) ? this.now : undefined;
  }

  private async fetch(message: NewMessage): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    try {
      this.now = await api.post<Preview>('/v1/attention/preview', message, abort.signal);
      this.of = JSON.stringify(message);
    } catch {
      if (!abort.signal.aborted) this.now = undefined;
    }
  }
}
