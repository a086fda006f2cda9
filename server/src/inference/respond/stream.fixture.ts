import type { StreamReader } from './stream-reader.ts';

export const frame = (value: unknown) =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
export const delta = (fields: object, more: object = {}) =>
  frame({ choices: [{ index: 0, delta: fields, finish_reason: null }], ...more });
export const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

export const ROLE = delta({ role: 'assistant', content: '' });
export const HELLO = delta({ content: 'hello "usage":{ [DONE] é' });
export const FINISH = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
export const USAGE = frame({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 5 } });
export const DONE = frame('[DONE]');
export const MESSAGE_START = event('message_start', {
  message: { usage: { input_tokens: 3, output_tokens: 1 } },
});

export function read(reader: StreamReader, text: string, cuts: readonly number[] = []): string {
  const bytes = Buffer.from(text);
  const places = [...new Set([0, ...cuts.map((cut) => cut % bytes.length), bytes.length])].sort(
    (a, b) => a - b,
  );
  const out: Buffer[] = [];
  for (let index = 0; index + 1 < places.length; index += 1) {
    out.push(...reader.push(bytes.subarray(places[index], places[index + 1])));
  }
  return Buffer.concat(out).toString();
}
