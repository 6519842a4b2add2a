import type { Told } from '../api/types';
import { plain } from './format';

/** What was decided otherwise than it had been previewed, in a sentence; none if nothing was. */
export function difference(previewed: Told[], told: Told[], name: (id: string) => string): string | undefined {
  const shown = (all: Told[]) => new Map<string, string>(all.map((one) => [one.member, one.policy]));
  const [before, after] = [shown(previewed), shown(told)];
  const added = [...after.keys()].filter((id) => !before.has(id)).map(name);
  const gone = [...before.keys()].filter((id) => !after.has(id)).map(name);
  const other = [...after].filter(([id, policy]) => before.has(id) && before.get(id) !== policy);
  const parts = [
    added.length > 0 ? `also told: ${added.join(', ')}` : '',
    gone.length > 0 ? `not told: ${gone.join(', ')}` : '',
    ...other.map(([id, policy]) => `${name(id)} ${plain(policy)}`),
  ].filter((part) => part !== '');
  return parts.length === 0 ? undefined : `Decided otherwise than shown: ${parts.join('; ')}.`;
}
