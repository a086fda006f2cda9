/**
 * Reads server-sent events without changing them. Text is decoded as Latin-1, so one character is one byte; JSON inside is only
 * read for its ASCII structure.
 */

export interface SseFrame {
  readonly event: string | null;
  /** The `data` lines joined; empty for comments and keep-alives. */
  readonly data: string;
}

// A carriage return ends a line by itself unless a line feed follows or could still follow.
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n|$))/g;

/**
 * The position after the blank line that ends the frame starting at `from`, or -1 when the frame is incomplete. Few streams have
 * carriage returns; those that do (`mixedLineEnds`) take the slower path.
 */
export function frameEnd(text: string, from: number, mixedLineEnds: boolean): number {
  if (mixedLineEnds) {
    BLANK_LINE.lastIndex = from;
    return BLANK_LINE.test(text) ? BLANK_LINE.lastIndex : -1;
  }
  let at = text.indexOf('\n', from);
  while (at >= 0) {
    if (text.charCodeAt(at + 1) === 0x0a) return at + 2;
    at = text.indexOf('\n', at + 1);
  }
  return -1;
}

/** A byte order mark, in Latin-1 or decoded: the standard lets one precede the first line of a stream, where it means nothing. */
const MARK = /^(?:\u00ef\u00bb\u00bf|\ufeff)/;

export function withoutMark(text: string): string {
  const code = text.charCodeAt(0);
  return code === 0xef || code === 0xfeff ? text.replace(MARK, '') : text;
}

export function parseFrame(text: string): SseFrame {
  let event: string | null = null;
  const data: string[] = [];
  for (const line of withoutMark(text).split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) data.push(line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5));
    else if (line.startsWith('event:')) event = line.slice(6).trim();
  }
  return { event, data: data.join('\n') };
}
