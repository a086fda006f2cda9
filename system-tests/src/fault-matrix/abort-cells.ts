import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Fault, RequestLogEntry } from '@relay/provider-sim';
import {
  headersOf,
  type Mode,
  type ModeName,
  modes,
  pathOf,
  protocolOf,
  requestText,
} from '../harness/mode.ts';
import { openRaw } from '../harness/raw-exchange.ts';
import type { Matrix } from './run-cell.ts';
import type { Slot } from './slots.ts';

// A client disconnects: Relay aborts the upstream immediately, tries no other endpoint, and the ledger shows it.

export interface AbortCell {
  readonly name: string;
  readonly mode: Mode;
  readonly fault: Fault;
  /** What the client has received when it disconnects. */
  readonly leaves: 'before headers' | 'after content';
}

const ABORT_MS_MAX = 50;
const CONTENT = /"delta":(?:\{"content":"[^"]|")/;
const BEGUN_MS_MAX = 5_000;

function abortCell(modeName: ModeName, leaves: AbortCell['leaves'], what: string, fault: Fault): AbortCell {
  return { name: `the client of ${modeName} leaves ${what}`, mode: modes[modeName], fault, leaves };
}

const endless: Fault = { frames: 400, frameDelayMs: 20 };

export const abortCells: readonly AbortCell[] = [
  ...(Object.keys(modes) as ModeName[]).flatMap((name) => [
    abortCell(name, 'before headers', 'before the provider answers', { stallBeforeHeaders: true }),
    abortCell(name, 'before headers', 'while the answer is incomplete', { stallAfterFrames: 1 }),
  ]),
  abortCell('chat stream', 'after content', 'in the middle of the stream', endless),
  abortCell('chat stream, usage asked', 'after content', 'in the middle of the stream', endless),
  abortCell('responses stream', 'after content', 'in the middle of the stream', endless),
  abortCell('chat stream', 'after content', 'while the provider is silent', { stallAfterFrames: 5 }),
  abortCell('responses stream', 'after content', 'while the provider is silent', { stallAfterFrames: 7 }),
];

export async function runAbortCell(matrix: Matrix, cell: AbortCell): Promise<void> {
  const run = (slot: Slot) => abortInSlot(matrix, cell, slot);
  await matrix.slots.use('plain', protocolOf(cell.mode), run, 0);
}

async function abortInSlot(matrix: Matrix, cell: AbortCell, slot: Slot): Promise<void> {
  const { mode, fault } = cell;
  const { key } = slot.first;
  const mark = matrix.first.log.at(-1)?.id ?? 0;
  const secondMark = matrix.second.log.at(-1)?.id ?? 0;
  const mine = (entry: RequestLogEntry) => entry.key === key && entry.id > mark;
  matrix.first.script({ match: { key }, fault });

  const clientRequestId = randomUUID();
  const outgoing = openRaw({
    url: `${matrix.url}/v1${pathOf(mode)}`,
    headers: {
      authorization: `Bearer ${matrix.apiToken}`,
      'x-request-id': clientRequestId,
      ...headersOf(mode),
    },
    body: requestText(mode, slot.laneWithFallback.name, cell.name),
  });
  outgoing.on('error', () => undefined);
  outgoing.end(requestText(mode, slot.laneWithFallback.name, cell.name));
  if (cell.leaves === 'after content') await contentOf(outgoing);
  else await untilBegun(matrix, mine, fault);

  const leftMs = performance.now();
  outgoing.destroy();
  const entry = await matrix.first.waitFor((each) => mine(each) && each.abortedMonotonicMs !== null);
  const tookMs = (entry.abortedMonotonicMs ?? 0) - leftMs;
  assert.ok(
    tookMs <= ABORT_MS_MAX,
    `the provider was left ${tookMs.toFixed(1)} ms after the client had gone`,
  );
  assert.equal(entry.outcome, 'aborted_by_client');
  await checkCancelled(matrix, cell, slot, clientRequestId);
  assert.equal(matrix.first.log.filter(mine).length, 1);
  const others = matrix.second.log.filter((each) => each.key === slot.second.key && each.id > secondMark);
  assert.equal(others.length, 0, 'nobody else is asked for somebody who has left');
}

/** The provider has the request, and where its answer is to begin, the first bytes of it are out. */
async function untilBegun(
  { first }: Matrix,
  mine: (entry: RequestLogEntry) => boolean,
  fault: Fault,
): Promise<void> {
  const deadlineMs = performance.now() + BEGUN_MS_MAX;
  const entry = await first.waitFor((each) => mine(each) && each.fault !== null);
  while (fault.stallBeforeHeaders !== true && entry.bytesSent === 0) {
    assert.ok(performance.now() < deadlineMs, 'the provider never began');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function contentOf(outgoing: ReturnType<typeof openRaw>): Promise<void> {
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    let text = '';
    answer.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (CONTENT.test(text)) resolve();
    });
    answer.once('close', () => reject(new Error(`the stream ended before its content: ${text}`)));
  });
}

async function checkCancelled(
  matrix: Matrix,
  cell: AbortCell,
  slot: Slot,
  clientRequestId: string,
): Promise<void> {
  const row = await matrix.ledger.row({ clientRequestId });
  const [attempt] = row.attempts;
  assert.equal(row.state, 'cancelled');
  assert.equal(row.error_code, 'client_disconnected');
  assert.equal(row.attempts.length, 1);
  assert.equal(row.fallback_count, 0);
  assert.equal(attempt?.outcome, 'cancelled');
  assert.equal(attempt?.cause, 'client_disconnected');
  assert.equal(row.endpoint_id, slot.first.id);
  // What was asked has been worked on, and what was streamed has been said.
  assert.equal(row.usage_source, 'estimated');
  assert.equal(row.actual_input_tokens, row.estimated_input_tokens);
  assert.ok(row.estimated_input_tokens > 0);
  assert.ok(cell.leaves === 'before headers' || (row.actual_output_tokens ?? 0) > 0);
}
