/** Which message the keys mean, and of which one the reasons are shown. */
class Selection {
  event: string | undefined = $state();
  /** The one below the pointer, and the one around the focus. */
  near: string | undefined = $state();
  focused: string | undefined = $state();
  why: string | undefined = $state();
  /** What the composer answers to. */
  replyTo: string | undefined = $state();
  editing: string | undefined = $state();
}

export const selection = new Selection();
