/** Who would be told of what stands in the composer: the host's own decision for exactly this. */
import { api } from '../../api/client';
import type { NewMessage, Preview, Told } from '../../api/types';

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

/** What was decided otherwise than it had been previewed, in a sentence; none if nothing was. */
export function difference(previewed: Told[], told: Told[], name: (id: string) => string): string | undefined {
  const shown = (all: Told[]) => new Map(all.map((one) => [one.member, one.policy]));
  const [before, after] = [shown(previewed), shown(told)];
  const added = [...after.keys()].filter((id) => !before.has(id)).map(name);
  const gone = [...before.keys()].filter((id) => !after.has(id)).map(name);
  const parts = [
    added.length > 0 ? `also told: ${added.join(', ')}` : '',
    gone.length > 0 ? `not told: ${gone.join(', ')}` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? undefined : `Decided otherwise than shown: ${parts.join('; ')}.`;
}
