import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Fault } from './fault.ts';
import type { operations, Seen, Sending } from './raw-client.fixture.ts';
import { contentOfStream, readSse } from './read-sse.ts';
import type { Outcome, RequestLogEntry } from './request-log.ts';
import type { ProviderSim } from './simulator.ts';

export type OperationName = keyof typeof operations;

export interface Case {
  operation: OperationName;
  stream: boolean;
}

export interface Row {
  fault: Fault;
  /** Defaults to `completed`. */
  outcome?: Outcome | Outcome[] | ((given: Case) => Outcome);
  extra?: Record<string, unknown>;
  sending?: Sending | ((given: Case, sim: ProviderSim, since: number) => Sending);
  only?: (given: Case) => boolean;
  check(seen: Seen, entry: RequestLogEntry, given: Case): void;
}

export const cases: Case[] = [
  { operation: 'chat', stream: false },
  { operation: 'chat', stream: true },
  { operation: 'responses', stream: false },
  { operation: 'responses', stream: true },
  { operation: 'embeddings', stream: false },
  { operation: 'messages', stream: false },
  { operation: 'messages', stream: true },
];

export const isStream = (given: Case): boolean => given.stream;
export const jsonOf = (text: string): Record<string, Record<string, unknown>> => JSON.parse(text);
export const answersWhole = (seen: Seen): void => {
  assert.equal(seen.status, 200);
  assert.equal(seen.whole, true);
};
export const saysSomething = (seen: Seen, given: Case): void => {
  answersWhole(seen);
  if (given.stream) assert.ok(contentOfStream(seen.text).length > 0);
  else assert.ok(Object.keys(jsonOf(seen.text)).length > 3);
};
export const neverAnswers = (seen: Seen): void => assert.equal(seen.status, 0);
export const isCut = (seen: Seen): void => assert.equal(seen.whole, false);
export const frameCount = (seen: Seen): number => readSse(seen.text).length;
export const abortAtFirstByte: Sending = { abortWhen: (text) => text !== '' };
export const answeredOrLeft: Outcome[] = ['completed', 'aborted_by_client'];
export const decoders = { gzip: gunzipSync, br: brotliDecompressSync, deflate: inflateSync };
export const inStreamError = (given: Case): Outcome => (given.stream ? 'error_in_stream' : 'fault_answered');
export const failsAfter =
  (frames: (given: Case) => number): Row['check'] =>
  (seen, entry, given) => {
    assert.equal(seen.whole, true);
    if (!given.stream) {
      assert.equal(seen.status, 500);
      return;
    }
    const events = readSse(seen.text);
    const last = jsonOf(events.at(-1)?.data ?? '');
    assert.equal(events.length, frames(given) + 1);
    if (given.operation === 'chat') assert.equal(last['error']?.['type'], 'server_error');
    else assert.equal(events.at(-1)?.event, 'error');
    assert.equal(seen.text.includes('[DONE]'), false);
    assert.equal(entry.reportedUsage, null);
  };

/** Bytes that are compared with what arrives. */
export const rawText = 'data: {"odd" :  1}\r\n\r\ndata: [DONE]\n\n';
export const notHttp = Buffer.from('SSH-2.0-nothing\r\n').toString('base64');
export const bareHttp = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}').toString('base64');
export const oddBody = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x2e, 0x30, 0x7d, 0x0a, 0x0a]);
