/** Which tall texts are shown whole. It outlasts their elements, which a long list drops. */
import { SvelteSet } from 'svelte/reactivity';

class Folds {
  private readonly open = new SvelteSet<string>();
  private readonly offered = new Set<string>();

  isOpen(name: string): boolean {
    return this.open.has(name);
  }

  turn(name: string): void {
    if (!this.open.delete(name)) this.open.add(name);
  }

  /** This one can be turned, for as long as it is shown; gives what takes that back. */
  offer(name: string): () => void {
    this.offered.add(name);
    return () => this.offered.delete(name);
  }

  isOffered(name: string): boolean {
    return this.offered.has(name);
  }
}

export const folds = new Folds();
