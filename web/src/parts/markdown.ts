/** Markdown as tokens. Nothing here makes HTML: the tokens become elements, and HTML in a message
 *  is shown as the text that it is. */
import { Lexer, type Token } from 'marked';

/** Longer texts are folded, and parsed as far as they are shown. */
export const FOLDED_CHARS = 4_000;
const LINE_CHARS = 20_000;

export function tokensOf(text: string): Token[] {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(withoutEndlessLines(text));
  } catch {
    return [{ type: 'paragraph', raw: text, text, tokens: [{ type: 'text', raw: text, text }] } as Token];
  }
}

/** A line of megabytes would keep a browser busy with nothing to read. */
function withoutEndlessLines(text: string): string {
  if (text.length <= LINE_CHARS) return text;
  return text.replace(/[^\n]{20000,}/g, (line) => `${line.slice(0, LINE_CHARS)} … (${line.length} characters)`);
}

const SCHEMES = /^(https?:|mailto:)/i;

/** An address that a link may have. */
export function linkOf(href: string): string | undefined {
  return SCHEMES.test(href.trim()) ? href.trim() : undefined;
}

/** A text with its mentions apart. */
export function withMentions(text: string): { text: string; isMention: boolean }[] {
  return text
    .split(/((?<![\w@])@[\p{L}\p{N}_-]+)/u)
    .filter((piece) => piece !== '')
    .map((piece) => ({ text: piece, isMention: piece.startsWith('@') && piece.length > 1 }));
}
