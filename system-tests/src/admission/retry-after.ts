import { afterMs } from '../harness/until.ts';
import { type Answer, type Asked, ask, errorOf, header } from './ask.ts';
import type { Fleet, PolicySetup } from './fleet.ts';

/** One way to fill a window, and the request that is then rejected. */
export interface RetryShape {
  readonly name: string;
  readonly policy: PolicySetup;
  readonly fill: readonly number[];
  readonly maxTokens: number;
}

export const RETRY_SHAPES: readonly RetryShape[] = [
  {
    name: 'retry-requests',
    policy: { metric: 'requests', period: 'minute', limit_value: 5 },
    fill: [5, 5, 5, 5, 5],
    maxTokens: 5,
  },
  {
    name: 'retry-tokens',
    policy: { metric: 'tokens', period: 'minute', limit_value: 400 },
    fill: [100, 100, 100],
    maxTokens: 200,
  },
];

export interface RetryResult {
  readonly name: string;
  readonly retryAfterMs: number;
  readonly namesPolicy: boolean;
  /** One second before Retry-After. */
  readonly acceptedEarly: boolean;
  /** At the time given in milliseconds, and at the time given in seconds. */
  readonly acceptedInTime: readonly boolean[];
}

const ACCEPTED_MS = 400;

export interface Retry {
  /** Resolves when its window is full and a request was rejected. */
  readonly refused: Promise<Answer>;
  /** After the time that the refusal said. */
  readonly over: Promise<RetryResult>;
}

/** Fills the shape's window, and asks again when its refusal says so; other lanes may be used meanwhile. */
export function checkRetryAfter(fleet: Fleet, shape: RetryShape, waitMsMax: number): Retry {
  const full = fillWindow(fleet, shape, waitMsMax);
  return {
    refused: full.then(({ refused }) => refused),
    over: full.then((filled) => askAgain(fleet, shape, filled)),
  };
}

interface FullWindow {
  readonly policyId: string;
  readonly refused: Answer;
  readonly knownAtMs: number;
}

async function fillWindow(fleet: Fleet, shape: RetryShape, waitMsMax: number): Promise<FullWindow> {
  const { name, policy, maxTokens } = shape;
  // Without pacing the window is full immediately, so the time of its next free slot is known.
  const { laneId } = await fleet.lane(name, {
    lane: { default_max_wait_ms: waitMsMax },
    endpoint: { pacing: false },
  });
  const [policyId = ''] = await fleet.policies({ ...policy, scope_type: 'lane', scope_id: laneId });
  for (const [index, tokens] of shape.fill.entries()) {
    const filled = await ask(fleet, {
      model: name,
      tag: `${name}-fill-${index}`,
      maxTokens: tokens,
      sim: { outputTokens: tokens },
      process: index % 4,
    }).answer;
    if (filled.status !== 200) throw new Error(`the window is full too early: ${filled.text}`);
  }
  const refused = await ask(fleet, { model: name, tag: `${name}-refused`, maxTokens }).answer;
  if (refused.status !== 429) throw new Error(`${name} was not refused: ${refused.status} ${refused.text}`);
  return { policyId, refused, knownAtMs: performance.now() };
}

async function askAgain(
  fleet: Fleet,
  { name, maxTokens }: RetryShape,
  { policyId, refused, knownAtMs }: FullWindow,
): Promise<RetryResult> {
  const retryAfterMs = Number(header(refused, 'retryAfterMs'));
  const until = (ms: number) => afterMs(Math.max(0, knownAtMs + ms - performance.now()));
  const again = async (process: number): Promise<boolean> => {
    const sent = ask(fleet, { model: name, tag: `${name}-again`, maxTokens, process });
    return accepted(fleet, policyId, sent);
  };
  await until(retryAfterMs - 1_000);
  const acceptedEarly = await again(1);
  await until(retryAfterMs);
  const inMs = await again(2);
  await until(Number(header(refused, 'retryAfter')) * 1_000);
  const inSeconds = await again(3);
  await fleet.remove(policyId);
  return {
    name,
    retryAfterMs,
    namesPolicy: errorOf(refused).policy?.id === policyId,
    acceptedEarly,
    acceptedInTime: [inMs, inSeconds],
  };
}

/** Accepted: it is queued with a reservation. It then disconnects, so that the next request is alone. */
async function accepted(fleet: Fleet, policyId: string, asked: Asked): Promise<boolean> {
  const first = await Promise.race([asked.answer, afterMs(ACCEPTED_MS)]);
  if (first !== undefined) return (first as Answer).status === 200;
  const { reserved } = await fleet.usage(policyId);
  asked.abort();
  await asked.answer;
  for (let turn = 0; (await fleet.usage(policyId)).reserved > 0; turn += 1) {
    if (turn > 100) throw new Error('a place was not given back');
    await afterMs(20);
  }
  return reserved > 0;
}
