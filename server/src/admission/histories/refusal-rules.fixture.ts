import { METRICS } from '../../domain/limits/metric.ts';
import type { AdmissionAsk, Refusal } from '../engine.ts';
import { createMemoryEngine } from '../memory/engine.ts';
import { dispatchedAt } from '../memory/window.ts';
import { type History, listening } from './history.fixture.ts';

/** How many refusals are tried again, one in so many. */
const TRIED_AGAIN = 10;
/**
 * A request in line may go to another candidate than the one where it is reserved, and classes change what they leave to others:
 * then the time told may be so much too early.
 */
const EARLY_MS_MAX = 1_000;
/** A copy that needs more steps is not judged. */
const STEPS_MAX = 1_000;

/** Sent again after Retry-After, alone, it is accepted: tried on a copy of the engine, in which no other request arrives. */
export async function judgeRetryAfter(history: History, ask: AdmissionAsk, refused: Refusal): Promise<void> {
  const { seed, random, pair, findings } = history;
  const isTimed = !ask.candidates.some(({ charges }) =>
    charges.some(({ policy }) => METRICS[policy.metric].held),
  );
  if (refused.reason !== 'wait_budget' || !isTimed || random.integer(1, TRIED_AGAIN) > 1) return;
  if (refused.retryAfterMs > 3_600_000) return;
  let nowMs = history.nowMs;
  const told = listening(() => nowMs);
  const { states, leases, late, time } = pair.reference.engine.memory;
  const copy = createMemoryEngine(
    {
      clock: { nowMs: () => nowMs },
      append: () => undefined,
      appendExpired: () => undefined,
      line: told.line,
    },
    structuredClone({ states, leases, late, time }),
  );
  const { organizationId } = ask;
  const againMs = nowMs + refused.retryAfterMs;
  await copy.step(organizationId);
  for (let step = 0; ; step += 1) {
    await Promise.resolve();
    const nextMs = told.nextMs.get(organizationId) ?? Number.POSITIVE_INFINITY;
    if (nextMs > againMs) break;
    if (step > STEPS_MAX) return;
    nowMs = Math.max(nowMs, nextMs);
    await copy.step(organizationId);
  }
  nowMs = againMs;
  const { release: _, ...alone } = ask;
  const answer = await copy.admit({ ...alone, operationId: 'again', waitersMax: 1_000_000 });
  history.retried += 1;
  if (answer.kind === 'refused' && answer.retryAfterMs > EARLY_MS_MAX)
    findings.violations.push(
      `seed ${seed}, retry: ${ask.operationId} sent again after ${refused.retryAfterMs} ms, then told ${answer.retryAfterMs}`,
    );
}

/** Everything that a refusal must not change. */
export function standstill({ pair, nowMs }: History, organizationId: string): string {
  const { states, leases } = pair.reference.engine.memory;
  const state = states.get(organizationId);
  const line = state?.line;
  return JSON.stringify([
    [...leases.keys()],
    [...(state?.windows.values() ?? [])].flatMap((window) => {
      const { key, plannedTotal, paceMarkMs } = window;
      const dispatched = dispatchedAt(window, nowMs);
      return dispatched + plannedTotal === 0 ? [] : [[key, dispatched, plannedTotal, paceMarkMs]];
    }),
    [...(state?.units.values() ?? [])].flatMap(({ key, holders }) =>
      holders.size === 0 ? [] : [[key, ...holders]],
    ),
    [...(line?.waiting.values() ?? [])].map(({ operationId, slotMs }) => [operationId, slotMs]),
    [...(line?.places.values() ?? [])].map(({ key, atMs, credit }) => [key, atMs, credit]),
    [...(line?.lengths ?? []), ...(line?.ahead ?? []), line?.virtual],
  ]);
}
