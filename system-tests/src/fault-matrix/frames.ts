/** Server-sent events as the bytes they are, cut apart at their blank lines. */

const BLANK_LINE = /\r?\n\r?\n/g;

/** Whole frames with their blank lines; what follows the last blank line is `rest`. */
export function splitFrames(bytes: Buffer): { frames: string[]; rest: string } {
  const text = bytes.toString('latin1');
  const frames: string[] = [];
  let from = 0;
  for (const match of text.matchAll(BLANK_LINE)) {
    const end = match.index + match[0].length;
    frames.push(text.slice(from, end));
    from = end;
  }
  return { frames, rest: text.slice(from) };
}

/** The stream without the frames that exist only because the gateway asked for usage. */
export function withoutUsageFrames(bytes: Buffer): Buffer {
  const { frames, rest } = splitFrames(bytes);
  const kept = frames.filter((frame) => !/^data: .*"choices":\[\],"usage":\{/.test(frame));
  return Buffer.from(kept.join('') + rest, 'latin1');
}

export function dataOf(frame: string): string {
  const lines = frame.split(/\r?\n/).filter((line) => line.startsWith('data: '));
  return lines.map((line) => line.slice('data: '.length)).join('\n');
}
