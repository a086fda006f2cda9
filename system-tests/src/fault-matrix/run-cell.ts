import { randomUUID } from 'node:crypto';
import type { Agent } from 'node:http';
import type { ProviderSim } from '@relay/provider-sim';
import type { Ledger } from '../harness/ledger.ts';
import { headersOf, type Mode, pathOf, protocolOf, requestText, upstreamText } from '../harness/mode.ts';
import { exchangeRaw, type RawAnswer } from '../harness/raw-exchange.ts';
import { checkCell, fallsBack } from './check-cell.ts';
import type { Expectation, FaultRow } from './expectation.ts';
import type { Slot, SlotPool } from './slots.ts';

export interface Matrix {
  readonly url: string;
  readonly apiToken: string;
  readonly agent: Agent;
  readonly slots: SlotPool;
  readonly first: ProviderSim;
  readonly second: ProviderSim;
  /** Returns what a provider would respond without a gateway. */
  readonly reference: ProviderSim;
  readonly ledger: Ledger;
}

export interface Cell {
  readonly row: FaultRow;
  readonly mode: Mode;
  readonly fallback: boolean;
  readonly expectation: Expectation;
}

// After a silence of this length the reference has nothing more to say; shorter than any cell's deadline.
const REFERENCE_SILENCE_MS = 1_000;
// The other processes learn of a cooldown in their own time and may end it a little later.
const COOLDOWN_SLACK_MS = 300;

export function nameOf({ row, mode, fallback, expectation }: Cell): string {
  const outcome = fallsBack(expectation, fallback) ? 'the next candidate answers' : expectation.kind;
  return `${row.name} · ${mode.name} · fallback ${fallback ? 'allowed' : 'not allowed'} → ${outcome}`;
}

export async function runCell(matrix: Matrix, cell: Cell): Promise<void> {
  const { row, mode } = cell;
  const restMs = row.cooldownMs === undefined ? 0 : row.cooldownMs + COOLDOWN_SLACK_MS;
  const run = (slot: Slot) => runInSlot(matrix, cell, slot);
  await matrix.slots.use(row.bench ?? 'plain', protocolOf(mode), run, restMs);
}

async function runInSlot(matrix: Matrix, cell: Cell, slot: Slot): Promise<void> {
  const { row, mode, fallback } = cell;
  const words = `${row.name}, ${mode.name}, ${fallback ? 'with' : 'without'} fallback`;
  const lane = fallback ? slot.laneWithFallback : slot.laneWithout;
  const clientRequestId = randomUUID();
  const firstMark = matrix.first.log.at(-1)?.id ?? 0;
  const secondMark = matrix.second.log.at(-1)?.id ?? 0;
  if (row.bench !== 'closed port') matrix.first.script({ match: { key: slot.first.key }, fault: row.fault });

  const [answer, said] = await Promise.all([
    exchangeRaw({
      url: `${matrix.url}/v1${pathOf(mode)}`,
      headers: {
        authorization: `Bearer ${matrix.apiToken}`,
        'x-request-id': clientRequestId,
        ...headersOf(mode),
        ...row.requestHeaders,
      },
      body: requestText(mode, lane.name, words),
      agent: matrix.agent,
    }),
    referenceAnswer(matrix, cell, slot, words),
  ]);
  const requestId = answer.headers['x-request-id'] ?? '';
  const ledger = await matrix.ledger.row({ requestId });
  checkCell({
    ...cell,
    words,
    slot,
    answer,
    said,
    seenByFirst: matrix.first.log.filter(({ key, id }) => key === slot.first.key && id > firstMark),
    seenBySecond: matrix.second.log.filter(({ key, id }) => key === slot.second.key && id > secondMark),
    ledger,
    clientRequestId,
    publicUrl: matrix.url,
  });
}

/** The same request with the same fault, asked of a provider directly: what the client should get, byte for byte. */
async function referenceAnswer(
  matrix: Matrix,
  cell: Cell,
  slot: Slot,
  words: string,
): Promise<RawAnswer | null> {
  const { row, mode, fallback, expectation } = cell;
  const fellBack = fallsBack(expectation, fallback);
  if ((expectation.kind === 'lost' || expectation.kind === 'rejected') && !fellBack) return null;
  const endpoint = fellBack ? slot.second : slot.first;
  const key = `reference-${randomUUID()}`;
  if (!fellBack) matrix.reference.script({ match: { key }, fault: row.fault });
  return exchangeRaw({
    url: `${matrix.reference.baseUrl}${pathOf(mode)}`,
    headers: { authorization: `Bearer ${key}`, connection: 'close', ...headersOf(mode) },
    body: upstreamText(mode, endpoint.upstreamModel, words),
    silenceMsMax: REFERENCE_SILENCE_MS,
  });
}
