import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { RequestLogEntry } from '@relay/contract';
import type { Fault, RequestLogEntry as ProviderEntry } from '@relay/provider-sim';
import {
  headersOf,
  type Mode,
  type ModeName,
  modes,
  pathOf,
  requestText,
  streamModes,
} from '../harness/mode.ts';
import { openRaw } from '../harness/raw-exchange.ts';
import { requestWhenLogged } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import type { Place } from './places.ts';
import { arrivalsAt, type Matrix } from './run-cell.ts';

// A client disconnects: Relay aborts the upstream immediately, tries no other endpoint, and bills what was done so far.

interface HangUp {
  readonly name: string;
  readonly mode: Mode;
  readonly fault: Fault;
  /** How many text deltas the client has received when it disconnects; 0: not even the headers. */
  readonly deltas: number;
}

/** Clients that leave at each frame of a stream; the places of these have prices. */
const FRAMES = 100;
const FRAME_TOKENS = 16;
export const countedModes: readonly Mode[] = streamModes.map((name) => modes[name]);
const countedFault: Fault = {
  ignoreCap: true,
  frames: FRAMES,
  frameBytes: FRAME_TOKENS * 4,
  outputTokens: FRAMES * FRAME_TOKENS,
  // Far enough apart that a gateway usually receives one frame at a time.
  frameDelayMs: 3,
};
const AT_ONCE = 8;

const ABORT_MS_MAX = 50;
const BEGUN_MS_MAX = 5_000;
const DELTA: Readonly<Record<Mode['operation'], RegExp>> = {
  chat: /"delta":\{"content":"[^"]/g,
  responses: /"type":"response\.output_text\.delta"/g,
  messages: /"type":"content_block_delta"/g,
  embeddings: /(?!)/g,
};

function hangUp(name: ModeName, when: string, deltas: number, fault: Fault): HangUp {
  return { name: `the client of ${name} leaves ${when}`, mode: modes[name], fault, deltas };
}

const endless: Fault = { frames: 400, frameDelayMs: 20 };

export const hangUps: readonly HangUp[] = [
  ...(Object.keys(modes) as ModeName[]).flatMap((name) => [
    hangUp(name, 'before the provider answers', 0, { stallBeforeHeaders: true }),
    hangUp(name, 'while the answer is incomplete', 0, { stallAfterFrames: 1 }),
  ]),
  hangUp('chat stream', 'in the middle of the stream', 1, endless),
  hangUp('chat stream, usage asked', 'in the middle of the stream', 1, endless),
  hangUp('responses stream', 'in the middle of the stream', 1, endless),
  hangUp('chat stream', 'while the provider is silent', 1, { stallAfterFrames: 5 }),
  hangUp('responses stream', 'while the provider is silent', 1, { stallAfterFrames: 7 }),
];

export async function runHangUp(matrix: Matrix, cell: HangUp): Promise<void> {
  const { mode, fault, deltas } = cell;
  const place = matrix.placeOf(cell);
  matrix.providers.first.script({ match: { key: place.first.key }, fault });
  const { outgoing, clientRequestId } = open(matrix, mode, place, cell.name);
  if (deltas > 0) await receive(outgoing, mode, deltas);
  else await untilBegun(matrix, place, fault);

  const leftMs = performance.now();
  outgoing.destroy();
  const isAborted = ({ key, abortedMonotonicMs }: ProviderEntry) =>
    key === place.first.key && abortedMonotonicMs !== null;
  const entry = await matrix.providers.first.waitFor(isAborted);
  const tookMs = (entry.abortedMonotonicMs ?? 0) - leftMs;
  assert.ok(
    tookMs <= ABORT_MS_MAX,
    `the provider was left ${tookMs.toFixed(1)} ms after the client had gone`,
  );
  assert.equal(entry.outcome, 'aborted_by_client');
  await checkCancelled(matrix, cell, place, clientRequestId);
  assert.deepEqual(
    arrivalsAt(matrix, place).map(({ who }) => who),
    ['first'],
    'nobody else is asked for somebody who has left',
  );
}

function open(
  matrix: Matrix,
  mode: Mode,
  place: Place,
  words: string,
  clientRequestId: string = randomUUID(),
) {
  matrix.sent.push(clientRequestId);
  const body = requestText(mode, place.lane.name, words);
  const outgoing = openRaw({
    url: `${matrix.url}/v1${pathOf(mode)}`,
    headers: {
      authorization: `Bearer ${matrix.apiToken}`,
      'x-request-id': clientRequestId,
      ...headersOf(mode),
    },
    body,
  });
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  return { outgoing, clientRequestId };
}

/** The provider has the request, and where its answer is to begin, the first bytes of it are out. */
async function untilBegun(matrix: Matrix, { first }: Place, fault: Fault): Promise<void> {
  const entry = await matrix.providers.first.waitFor((each) => each.key === first.key && each.fault !== null);
  const hasBegun = () => fault.stallBeforeHeaders === true || entry.bytesSent > 0;
  assert.ok(await until(hasBegun, BEGUN_MS_MAX, 5), 'the provider never began');
}

/** Resolves once that many deltas have arrived; rejects if the stream ends before. */
function receive(outgoing: ClientRequest, { operation }: Mode, deltas: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let [received, text] = [0, ''];
    outgoing.once('error', reject);
    outgoing.once('response', (answer: IncomingMessage) => {
      answer.on('error', () => undefined);
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        const whole = text.lastIndexOf('\n\n') + 2;
        received += text.slice(0, whole).match(DELTA[operation])?.length ?? 0;
        text = text.slice(whole);
        if (received >= deltas) resolve();
      });
      answer.once('close', () => reject(new Error(`the stream ended after ${received} deltas: ${text}`)));
    });
  });
}

async function checkCancelled(
  { admin }: Matrix,
  { deltas }: HangUp,
  { first }: Place,
  clientRequestId: string,
): Promise<void> {
  const row = await requestWhenLogged(admin, { clientRequestId });
  const [attempt] = row.attempts;
  assert.equal(row.state, 'cancelled');
  assert.equal(row.error_code, 'client_disconnected');
  assert.equal(row.attempts.length, 1);
  assert.equal(row.fallback_count, 0);
  assert.equal(attempt?.outcome, 'cancelled');
  assert.equal(attempt?.error_code, 'client_disconnected');
  assert.equal(row.endpoint_id, first.id);
  // What was asked has been worked on, and what was streamed has been said.
  assert.equal(row.usage_source, deltas === 0 ? 'estimated' : 'streamed');
  assert.ok((row.input_tokens ?? 0) > 0);
  assert.ok((row.estimated_input_tokens ?? 0) > 0);
  assert.ok(deltas === 0 || (row.output_tokens ?? 0) > 0);
}

/** At each frame of each stream that many clients leave. Answers the names of their requests. */
export async function hangUpAtEachFrame(matrix: Matrix, times: number): Promise<string[]> {
  const todo = countedModes.flatMap((mode) =>
    Array.from({ length: FRAMES * times }, (_, index) => ({ mode, deltas: (index % FRAMES) + 1, index })),
  );
  for (const mode of countedModes) {
    const { key } = matrix.placeOf(mode).first;
    matrix.providers.first.script({ match: { key }, fault: countedFault, persistent: true });
  }
  const names: string[] = [];
  async function client(): Promise<void> {
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const name = `hang-up-${next.mode.operation}-${next.index};`;
      names.push(name);
      const { outgoing } = open(matrix, next.mode, matrix.placeOf(next.mode), name, name);
      await receive(outgoing, next.mode, next.deltas);
      outgoing.destroy();
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return names;
}

/** Compares what was billed with the provider's counts. The client received text, so neither input nor output is zero. */
export function billingFaults(
  { providers }: Matrix,
  names: readonly string[],
  log: readonly RequestLogEntry[],
): { zeroBilled: string[]; overBilled: string[]; missing: string[] } {
  const rows = new Map(log.map((row) => [row.client_request_id, row]));
  const entries = new Map(
    providers.first.log.map((entry) => [/hang-up-\w+-\d+;/.exec(entry.body?.toString() ?? '')?.[0], entry]),
  );
  const found = { zeroBilled: [] as string[], overBilled: [] as string[], missing: [] as string[] };
  for (const name of names) {
    const [row, entry] = [rows.get(name), entries.get(name)];
    if (row === undefined || entry === undefined) {
      found.missing.push(`${name} ${row === undefined ? 'no row' : 'unknown to the provider'}`);
      continue;
    }
    const [input, output] = [row.input_tokens ?? 0, row.output_tokens ?? 0];
    const { promptTokens, completionTokens } = entry;
    const what = `${name} billed ${input} + ${output} (${row.usage_source}, ${row.state}), counted ${promptTokens} + ${completionTokens} (${entry.outcome})`;
    if (input === 0 || output === 0 || (row.cost_micros ?? 0) === 0) found.zeroBilled.push(what);
    // Output never exceeds what the provider wrote. Input is an estimate whose error is below the input itself.
    if (output > completionTokens || input > 2 * promptTokens) found.overBilled.push(what);
  }
  return found;
}
