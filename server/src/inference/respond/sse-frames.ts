/**
 * Reading a stream of server-sent events without changing it. Text is decoded as Latin-1 throughout, so one
 * character is one byte; JSON inside is only looked at for its ASCII structure.
 */

export interface SseFrame {
  readonly event: string | null;
  /** The `data` lines joined; empty for comments and keep-alives. */
  readonly data: string;
}

/** One past the blank line that ends the frame starting at `from`, or -1 when the frame is not complete. */
export function frameEnd(text: string, from: number): number {
  let at = text.indexOf('\n', from);
  while (at >= 0) {
    const next = text.charCodeAt(at + 1);
    if (next === 0x0a) return at + 2;
    if (next === 0x0d && text.charCodeAt(at + 2) === 0x0a) return at + 3;
    at = text.indexOf('\n', at + 1);
  }
  return -1;
}

export function parseFrame(text: string): SseFrame {
  let event: string | null = null;
  const data: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('data:')) data.push(line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5));
    else if (line.startsWith('event:')) event = line.slice(6).trim();
  }
  return { event, data: data.join('\n') };
}
