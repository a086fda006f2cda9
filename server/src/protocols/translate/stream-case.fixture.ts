import { frameEnd, parseFrame } from '../../kit/sse-frames.ts';
import { AnswerTranslator } from './answer-translator.ts';
import type { Translation, WriterOptions } from './translation.ts';

export interface WrittenFrame {
  readonly event: string | null;
  /** Parsed, unless it is not JSON. */
  readonly data: unknown;
}

export const writerOptions: WriterOptions = {
  request: {},
  model: 'lane',
  requestId: 'req_1',
  nowMs: 1_700_000_000_000,
  maker: 'maker',
};

/** What the client reads when the provider's bytes come in these pieces. */
export function translateStream(
  translation: Translation,
  pieces: readonly Buffer[],
  options: WriterOptions,
): string {
  const translator = new AnswerTranslator(translation, options);
  return Buffer.concat([...pieces.map((piece) => translator.push(piece)), translator.end()]).toString();
}

export function framesOf(text: string): readonly WrittenFrame[] {
  const frames: WrittenFrame[] = [];
  let from = 0;
  for (let end = frameEnd(text, 0, false); end >= 0; end = frameEnd(text, from, false)) {
    const raw = text.slice(from, end);
    const { event, data } = parseFrame(raw);
    frames.push({ event, data: data === '' ? raw.trim() : jsonOrText(data) });
    from = end;
  }
  if (from !== text.length) throw new Error(`what was written ends within a frame: ${text.slice(from)}`);
  return frames;
}

/** Every way to cut it in two, and `count` ways to cut it in up to 12. */
export function* splits(bytes: Buffer, count: number, random: () => number): Generator<readonly Buffer[]> {
  for (let at = 0; at <= bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
  for (let index = 0; index < count; index++) {
    const cuts = Array.from({ length: 1 + Math.floor(random() * 11) }, () =>
      Math.floor(random() * (bytes.length + 1)),
    );
    const sorted = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    yield sorted.slice(1).map((cut, place) => bytes.subarray(sorted[place], cut));
  }
}

function jsonOrText(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
