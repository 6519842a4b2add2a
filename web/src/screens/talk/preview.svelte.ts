/** Who would be told of what stands in the composer: the host's own decision for exactly this. */
import { api } from '../../api/client';
import type { NewMessage, Preview } from '../../api/types';

const SETTLE_MS = 150;

export class PreviewOf {
  now: Preview | undefined = $state.raw();
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

  private async fetch(message: NewMessage): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    try {
      this.now = await api.post<Preview>('/v1/attention/preview', message, abort.signal);
    } catch {
      if (!abort.signal.aborted) this.now = undefined;
    }
  }
}
