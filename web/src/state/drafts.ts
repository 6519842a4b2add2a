/** What was typed and not sent, by conversation or thread. */
const PREFIX = 'chorus.draft.';

export const drafts = {
  get: (place: string): string => localStorage.getItem(PREFIX + place) ?? '',
  set(place: string, text: string): void {
    if (text === '') localStorage.removeItem(PREFIX + place);
    else localStorage.setItem(PREFIX + place, text);
  },
};
