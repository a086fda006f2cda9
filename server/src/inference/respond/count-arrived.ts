import type { FairSlices } from '../../kit/fair-slices.ts';
import type { OneAtATime } from '../../kit/one-at-a-time.ts';
import { finish, type Steps } from '../../kit/slices.ts';
import type { Protocol } from '../../protocols/protocol.ts';
import { hasCounts } from '../../protocols/reported-usage.ts';
import { isFailure, type UpstreamHead } from '../exchange.ts';
import { type Counted, countedOf, NOTHING_COUNTED } from './counted.ts';
import { isSmall } from './decode-answer.ts';
import { DecodedCopy } from './decoded-copy.ts';
import { PassingMeter } from './passing-meter.ts';
import { encodingOf } from './upstream-head.ts';

/** Up to this size an answer is read in one go. */
const AT_ONCE_BYTES_MAX = 16 * 1024;
const STEP_BYTES = 32 * 1024;

export interface CountDeps {
  readonly protocol: Protocol;
  readonly organizationId: string;
  /** Large answers are read in slices, in which organizations take turns. */
  readonly slices: FairSlices;
  readonly decoding: OneAtATime;
}

/** Reads the usage in the bytes of an answer that was not delivered: an error, a refused answer, or the part of a broken answer. */
export function countArrived(
  deps: CountDeps,
  head: UpstreamHead,
  chunks: readonly Buffer[],
): Counted | Promise<Counted> {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  if (bytes === 0) return NOTHING_COUNTED;
  const counted = countBytes(deps, head, chunks, bytes);
  if (!isFailure(head.status)) return counted;
  return counted instanceof Promise ? counted.then(countedOfError) : countedOfError(counted);
}

/** An error means that the provider did no work, unless the error reports usage. The text of an error does not count as output. */
export function countedOfError({ reported, inPart }: Counted): Counted {
  const usage = reported ?? inPart;
  return usage === null || !hasCounts(usage) ? NOTHING_COUNTED : { reported, inPart, streamedTokens: 0 };
}

function countBytes(
  deps: CountDeps,
  head: UpstreamHead,
  chunks: readonly Buffer[],
  bytes: number,
): Counted | Promise<Counted> {
  const { protocol, organizationId, slices } = deps;
  const encoding = encodingOf(head);
  const meter = new PassingMeter(protocol);
  if (encoding !== null) return decodingInTurn(deps, bytes, () => countDecoded(meter, encoding, chunks));
  if (bytes > AT_ONCE_BYTES_MAX) return slices.run(organizationId, readSteps(meter, chunks));
  // Most answers here are small and whole, such as errors. Parsing them is faster than outlining them.
  const { sound, usage } = finish(protocol.answer.read(joined(chunks, bytes)));
  return sound ? countedOf(usage) : finish(readSteps(meter, chunks));
}

/** Decoding takes a thread, and one organization must not take all of them. */
export function decodingInTurn<T>(
  { organizationId, decoding }: Pick<CountDeps, 'organizationId' | 'decoding'>,
  bytes: number,
  decode: () => Promise<T>,
): Promise<T> {
  return isSmall(bytes) ? decode() : decoding(organizationId, decode);
}

function joined(chunks: readonly Buffer[], bytes: number): Buffer {
  const only = chunks.length === 1 ? chunks[0] : undefined;
  return only ?? Buffer.concat(chunks, bytes);
}

function* readSteps(meter: PassingMeter, chunks: readonly Buffer[]): Steps<Counted> {
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += STEP_BYTES) {
      meter.push(chunk.subarray(at, at + STEP_BYTES));
      yield;
    }
  return meter.count();
}

async function countDecoded(
  meter: PassingMeter,
  encoding: string,
  chunks: readonly Buffer[],
): Promise<Counted> {
  const copy = new DecodedCopy(encoding, (chunk) => meter.push(chunk));
  for (const chunk of chunks) await copy.push(chunk);
  await copy.end();
  return meter.count();
}
