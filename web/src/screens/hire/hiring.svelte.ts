/** The dialog for hiring: open with what was asked for, or closed. */
class Hiring {
  asked: { agent?: string; skill?: string } | undefined = $state.raw();
}

export const hiring = new Hiring();
