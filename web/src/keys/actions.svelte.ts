/** Everything that can be done, with its key. The palette, the help and the keyboard read it. */

export interface Action {
  id: string;
  title: string;
  /** As `KeyboardEvent.key` says it; two letters for one after the other; `mod+k` with Ctrl or Cmd. */
  key?: string;
  group: string;
  /** Whether it is done again and again while its key is held down. */
  repeats?: boolean;
  run: () => void;
}

class Actions {
  private readonly lists = new Map<symbol, Action[]>();
  all: Action[] = $state.raw([]);
  private first = '';
  private firstAt = 0;

  /** Adds actions for as long as their part of the page is there; gives what removes them. */
  add(actions: Action[]): () => void {
    const name = Symbol();
    this.lists.set(name, actions);
    this.all = [...this.lists.values()].flat();
    return () => {
      this.lists.delete(name);
      this.all = [...this.lists.values()].flat();
    };
  }

  /** What a key does. The newest part of the page comes first. */
  press(event: KeyboardEvent): boolean {
    const mod = event.ctrlKey || event.metaKey;
    // A dialog has its own keys, and so has what is focused and can be pressed.
    if (event.altKey || document.querySelector('dialog[open]')) return false;
    if (event.key === 'Enter' && !mod && isPressable(event.target)) return false;
    const key = mod ? `mod+${event.key.toLowerCase()}` : event.key;
    const isTyping = isField(event.target);
    if (isTyping && !mod && event.key !== 'Escape') return false;
    const now = Date.now();
    const pair = now - this.firstAt < 900 ? `${this.first} ${key}` : '';
    this.first = key;
    this.firstAt = now;
    const all = this.all.toReversed();
    const found = all.find((action) => action.key === pair) ?? all.find((action) => action.key === key);
    if (found === undefined) return false;
    this.first = '';
    if (!event.repeat || found.repeats) found.run();
    return true;
  }
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function isPressable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a[href], button, summary, [role=tab], [role=option]') !== null;
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** A key as people call it. */
export function called(key: string): string {
  return key.startsWith('mod+') ? `${isMac ? '⌘' : 'Ctrl'} ${key.slice(4).toUpperCase()}` : key.replace('Escape', 'Esc');
}

export const actions = new Actions();
