/** The signals, in the host's order, and what each says. */
export const SIGNALS = [
  { signal: 'seen', glyph: '👀', means: 'I have seen it' },
  { signal: 'agree', glyph: '👍', means: 'I agree' },
  { signal: 'working', glyph: '🔧', means: 'I am working on it' },
  { signal: 'queued', glyph: '🕐', means: 'I will do it later' },
  { signal: 'claimed', glyph: '✋', means: 'I take it' },
  { signal: 'done', glyph: '✅', means: 'It is done' },
  { signal: 'declined', glyph: '🙅', means: 'I will not do it' },
  { signal: 'blocked', glyph: '🚧', means: 'I cannot go on' },
  { signal: 'unclear', glyph: '❓', means: 'I do not understand' },
];
