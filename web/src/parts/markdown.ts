/** Markdown as tokens. Nothing here makes HTML: the tokens become elements, and HTML in a message
 *  is shown as the text that it is. */
import { Lexer, type Token } from 'marked';

/** Of a longer text only so much is parsed while it is folded: more than is shown of it. */
export const FOLDED_CHARS = 8_000;
const LINE_CHARS = 20_000;

/** Whether a text may be taller than a fold. What is not is never observed. A phone has some 35
 *  characters a line, and what stands around a block is as high as a line. */
export function mayBeTall(text: string): boolean {
  if (text.length > 500) return true;
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0 && lines < 10; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines >= 10;
}

const PLAIN = /^(?=[\p{L}(])[\p{L}\p{N} .,;:'"’()?!%/–—…-]*(?<! )$/u;
const LINK = /:\/\/|www\./i;

/** Whether Markdown makes nothing of a text but one paragraph of itself, without a mention. Most of
 *  what is said is like that, and need not be parsed. */
export function isPlain(text: string): boolean {
  return text.length <= 500 && PLAIN.test(text) && !LINK.test(text);
}

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
