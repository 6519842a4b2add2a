/** Where the page is, as its address says. */

import { BASE } from '../api/base';

export type Place =
  | { screen: 'talk'; conversation?: string; thread?: string; event?: string }
  | { screen: 'agents'; agent?: string }
  | { screen: 'inbox' }
  | { screen: 'work'; tab?: string };

const ROOT = `${BASE}/app/`;

export function read(path: string, hash = ''): Place {
  const parts = path.slice(BASE.length).replace(/^\/app\/?/, '').split('/').map(decodeURIComponent);
  switch (parts[0]) {
    case 'c': {
      const thread = parts[2] === 't' ? parts[3] : undefined;
      return { screen: 'talk', conversation: parts[1], thread, event: hash.slice(1) || undefined };
    }
    case 'agents':
      return { screen: 'agents', agent: parts[1] || undefined };
    case 'inbox':
      return { screen: 'inbox' };
    case 'work':
      return { screen: 'work', tab: parts[1] || undefined };
    default:
      return { screen: 'talk' };
  }
}

export function write(place: Place): string {
  const path = (...parts: (string | undefined)[]) =>
    ROOT + parts.filter((part) => part !== undefined).map(encodeURIComponent).join('/');
  switch (place.screen) {
    case 'talk': {
      if (place.conversation === undefined) return ROOT;
      const thread = place.thread === undefined ? [] : ['t', place.thread];
      return path('c', place.conversation, ...thread) + (place.event ? `#${place.event}` : '');
    }
    case 'agents':
      return path('agents', place.agent);
    case 'inbox':
      return path('inbox');
    case 'work':
      return path('work', place.tab);
  }
}
