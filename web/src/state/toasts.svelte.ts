/** Short sentences about what was just done, or why it could not be. */
export interface Toast {
  id: number;
  text: string;
  isProblem: boolean;
}

export class Toasts {
  all: Toast[] = $state([]);
  /** The modal dialogs that are open, the innermost last. */
  dialogs: symbol[] = $state.raw([]);
  private next = 1;

  say(text: string, isProblem = false): void {
    const id = this.next++;
    this.all.push({ id, text, isProblem });
    setTimeout(() => this.drop(id), isProblem ? 8_000 : 4_000);
  }

  /** A dialog is open; gives what says that it has closed. */
  within(dialog: symbol): () => void {
    this.dialogs = [...this.dialogs, dialog];
    return () => (this.dialogs = this.dialogs.filter((one) => one !== dialog));
  }

  drop(id: number): void {
    this.all = this.all.filter((toast) => toast.id !== id);
  }

  /** Does something, and says why it could not be done. */
  async attempt<T>(what: Promise<T>, done?: string): Promise<T | undefined> {
    try {
      const result = await what;
      if (done !== undefined) this.say(done);
      return result;
    } catch (error) {
      this.say((error as Error).message, true);
      return undefined;
    }
  }
}
