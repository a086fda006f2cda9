import { isObject, type JsonObject, objectOf } from '../../../../kit/json-value.ts';
import { parseFrame } from '../../../../kit/sse-frames.ts';
import type { Translation, WriterOptions } from '../../translation.ts';
import { MAKER, REQUEST_ID } from './cases/answer-case.fixture.ts';

export const NOW_MS = 1_700_000_000_500;

/** A provider's stream as bytes. */
export function streamBytes(translation: Translation, frames: readonly JsonObject[]): Buffer {
  if (translation.provider === 'messages')
    return Buffer.from(
      frames.map((frame) => `event: ${String(frame['type'])}\ndata: ${JSON.stringify(frame)}\n\n`).join(''),
    );
  return Buffer.from(
    `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`,
  );
}

export function optionsFor(request: JsonObject = {}): WriterOptions {
  const given = { model: 'lane', input: 'Hi', ...request };
  return { request: given, model: 'lane', requestId: REQUEST_ID, nowMs: NOW_MS, maker: MAKER };
}

/** The events of a client's stream; comments are left out. */
export function eventsIn(stream: string): readonly JsonObject[] {
  return stream
    .split('\n\n')
    .map(parseFrame)
    .filter(({ data }) => data !== '')
    .map(({ data }) => objectOf(JSON.parse(data)));
}

/** One event in short: its type, its place and what it says. */
export function inShort(event: JsonObject): string {
  const type = String(event['type']).replace(/^response\./, '');
  const { response, item, part, output_index: index } = event;
  if (isObject(response)) return lifecycle(type, response);
  const inner = event['content_index'] ?? event['summary_index'];
  const place = inner === undefined ? String(index) : `${String(index)}.${String(inner)}`;
  if (isObject(item)) return `${type} ${place} ${String(item['type'])}`;
  if (isObject(part)) return `${type} ${place} ${String(part['type'])}`;
  if (type === 'keepalive') return type;
  if (type === 'error') return `error ${String(event['code'])}`;
  const said = event['delta'] ?? event['text'] ?? event['refusal'] ?? event['arguments'] ?? event['input'];
  return `${type} ${place} ${JSON.stringify(said)}`;
}

function lifecycle(type: string, response: JsonObject): string {
  const why = objectOf(response['incomplete_details'])['reason'] ?? objectOf(response['error'])['code'];
  return why === undefined ? type : `${type} ${String(why)}`;
}

export function usageInShort(usage: unknown): string | null {
  if (!isObject(usage)) return null;
  const cached = objectOf(usage['input_tokens_details'])['cached_tokens'];
  const thought = objectOf(usage['output_tokens_details'])['reasoning_tokens'];
  return [usage['input_tokens'], cached, usage['output_tokens'], thought].map(String).join(' / ');
}
