import type { AnswerReading } from '../../protocols/protocol.ts';
import type { UpstreamHead } from '../exchange.ts';
import { type CountDeps, countArrived, countedOfError, decodingInTurn } from './count-arrived.ts';
import { type Counted, countedOf } from './counted.ts';
import { decode } from './decode-answer.ts';
import { encodingOf } from './upstream-head.ts';

/** A complete answer. */
export interface Judged {
  /** True for one complete JSON object, and for an answer that Relay cannot judge. */
  readonly isSound: boolean;
  /** Null: Relay could not read the answer as a whole. */
  readonly counted: Counted | null;
  /** The status that the answer should have had, because it is an error. Null: it is none. */
  readonly errorStatus: number | null;
}

const UNSOUND: Judged = { isSound: false, counted: null, errorStatus: null };

export function judgeAnswer(deps: CountDeps, head: UpstreamHead, body: Buffer): Judged | Promise<Judged> {
  const encoding = encodingOf(head);
  return encoding === null ? read(deps, body) : readEncoded(deps, head, body, encoding);
}

function read({ slices, organizationId, protocol }: CountDeps, body: Buffer): Judged | Promise<Judged> {
  const reading = slices.run(organizationId, protocol.answer.read(body));
  return reading instanceof Promise ? reading.then(judgedAs) : judgedAs(reading);
}

function judgedAs({ sound, usage, errorStatus }: AnswerReading): Judged {
  if (!sound) return UNSOUND;
  const counted = countedOf(usage);
  if (errorStatus === undefined) return { isSound: true, counted, errorStatus: null };
  return { isSound: true, counted: countedOfError(counted), errorStatus };
}

/** Relay cannot judge what it cannot decode or hold, so such an answer counts as sound. */
async function readEncoded(
  deps: CountDeps,
  head: UpstreamHead,
  body: Buffer,
  encoding: string,
): Promise<Judged> {
  const decoded = await decodingInTurn(deps, body.length, () => decode(body, encoding));
  if (decoded === 'broken') return UNSOUND;
  if (Buffer.isBuffer(decoded)) return read(deps, decoded);
  const counted = { ...(await countArrived(deps, head, [body])), streamedTokens: 0 };
  return { isSound: true, counted, errorStatus: null };
}
