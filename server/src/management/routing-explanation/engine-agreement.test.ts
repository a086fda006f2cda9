import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testSeed } from '@relay/testbed/random';
import fc from 'fast-check';
import type { AdmissionAnswer, AdmissionAsk } from '../../admission/engine.ts';
import { concurrencyRefusal, outcomeOf } from '../../admission/refusal.ts';
import { describePolicy } from '../../domain/limits/limits.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { systemClock } from '../../kit/clock.ts';
import { withLane } from './edited-lane.ts';
import { explainRequest } from './explain-request.ts';
import { PLANTED, type PlantedFault } from './planted-faults.fixture.ts';
import {
  askOf,
  CALLER,
  type DrawnEngine,
  engineOf,
  LANE,
  NOW_MS,
  type RandomLane,
  randomLane,
  requestOf,
  snapshotOf,
} from './random-lane.fixture.ts';

const RUNS = 2_000;
const SEED = testSeed();

/** What both the engine and the explanation say of a request. */
interface Verdict {
  readonly outcome: 'dispatch' | 'wait' | 'refuse';
  readonly endpointId: string | null;
  readonly waitMs: number | null;
  readonly retryAfterMs: number | null;
  readonly errorCode: string | null;
  readonly limitId: string | null;
}

/** Of the lane as it is saved; with `saved`, of an edit that makes the drawn lane of another one. */
async function explained(
  drawn: RandomLane,
  fault: PlantedFault,
  saved: RandomLane | null = null,
): Promise<Verdict> {
  const organization = saved === null ? snapshotOf(drawn) : editedSnapshot(drawn, saved);
  const engine = await engineOf(drawn, askOf(organization, drawn));
  const deps = {
    clock: { ...systemClock, nowMs: () => NOW_MS },
    limitUsage: engine.usage,
    admission: {
      cooldownUntilMs: (id: string) => NOW_MS + (drawn.cooldownsMs[Number(id.slice(1))] ?? 0),
      refuseInLine: (_organizationId: string, id: string, retryMsMin: number) =>
        concurrencyRefusal(id, retryMsMin),
    },
    health: { read: async () => new Map() },
  };
  const answer = await explainRequest(
    fault.deps?.(deps) ?? deps,
    fault.snapshot?.(organization) ?? organization,
    CALLER,
    requestOf(drawn),
  );
  const found = fault.explanation?.(answer) ?? answer;
  return {
    outcome: found.outcome,
    endpointId: found.selected_endpoint_id,
    waitMs: found.wait_ms,
    retryAfterMs: found.retry_after_ms,
    errorCode: found.error_code,
    limitId: found.limited_by?.policy_id ?? null,
  };
}

/** Everything as drawn but the lane, which an edit then makes the drawn one. */
function editedSnapshot(drawn: RandomLane, saved: RandomLane): OrganizationSnapshot {
  const whole = snapshotOf(drawn);
  const lane = whole.lanes.get(LANE);
  assert.ok(lane);
  const other = snapshotOf({ ...drawn, ...laneOf(saved) });
  const members = other.memberships.map((each, at) => ({ ...each, manualRank: -at, enabled: at % 2 === 0 }));
  return withLane({ ...other, memberships: members.slice(1) }, { lane, memberships: whole.memberships });
}

function laneOf({ selection, allowFallback, maxWaitMs }: RandomLane) {
  return { selection, allowFallback, maxWaitMs };
}

async function answered(drawn: RandomLane): Promise<Verdict> {
  const organization = snapshotOf(drawn);
  const ask = askOf(organization, drawn);
  const engine = await engineOf(drawn, ask);
  const answer = await engine.admit(ask);
  return verdictOf(organization, ask, answer, answer.kind === 'wait' ? await engine.decided('asked') : null);
}

type Decided = Awaited<ReturnType<DrawnEngine['decided']>>;

/**
 * A request that waits for a unit of concurrency, which no other gives back here, waits for an unknown time, even if it goes elsewhere when its time
 * is almost over.
 */
function verdictOf(
  organization: OrganizationSnapshot,
  ask: AdmissionAsk,
  answer: AdmissionAnswer,
  decided: Decided | null,
): Verdict {
  assert.notEqual(answer.kind, 'rebuild');
  const appliedId = 'policyId' in answer ? answer.policyId : null;
  const limit = appliedId === null ? null : describePolicy(organization, CALLER, appliedId);
  const limitId = limit?.id ?? null;
  if (answer.kind === 'rebuild' || answer.kind === 'refused') {
    const { code, retryAfterMs } =
      answer.kind === 'refused' ? outcomeOf(answer, limit) : { code: null, retryAfterMs: null };
    return { outcome: 'refuse', endpointId: null, waitMs: null, retryAfterMs, errorCode: code, limitId };
  }
  const went = decided?.release.kind === 'admitted' ? decided.release.candidate : null;
  const gaveUp = ask.selection === 'preferred' && went !== answer.candidate;
  const candidate = went === null || gaveUp ? answer.candidate : went;
  const waitedMs = went === null || gaveUp ? null : (decided?.afterMs ?? null);
  const waitMs = answer.kind === 'admitted' ? 0 : waitedMs;
  return {
    outcome: answer.kind === 'admitted' ? 'dispatch' : 'wait',
    endpointId: ask.candidates[candidate]?.endpointId ?? null,
    waitMs,
    retryAfterMs: null,
    errorCode: null,
    limitId,
  };
}

/** Of several limits and cooldowns that delay a request, the engine names the first, the explanation the one that lasts longest. */
function assertAgree(found: Verdict, expected: Verdict): void {
  const limitId = expected.outcome === 'wait' ? found.limitId : expected.limitId;
  assert.deepEqual(found, { ...expected, limitId });
}

function agreement(fault: PlantedFault) {
  return fc.asyncProperty(randomLane, async (drawn) => {
    assertAgree(await explained(drawn, fault), await answered(drawn));
  });
}

describe('an explanation', () => {
  it('decides as the engine does when it is asked for the same request', async (test) => {
    const seen: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(randomLane, async (drawn) => {
        const expected = await answered(drawn);
        const kind = `${expected.outcome} ${expected.errorCode ?? ''}${expected.waitMs === null ? ' untimed' : ''}`;
        seen[kind] = (seen[kind] ?? 0) + 1;
        assertAgree(await explained(drawn, { name: 'none' }), expected);
      }),
      { numRuns: RUNS, seed: SEED },
    );
    test.diagnostic(JSON.stringify(seen));
    // The drawn lanes must have many different outcomes; otherwise agreement would prove little.
    assert.ok(Object.keys(seen).length >= 6, JSON.stringify(seen));
    for (const [kind, count] of Object.entries(seen)) assert.ok(count >= 5, `${kind} came ${count} times`);
  });

  it('of an unsaved edit decides as the engine does with the edited lane', async () => {
    await fc.assert(
      fc.asyncProperty(randomLane, randomLane, async (drawn, saved) => {
        assertAgree(await explained(drawn, { name: 'none' }, saved), await answered(drawn));
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  for (const fault of PLANTED) {
    it(`with ${fault.name} does not`, async () => {
      const { failed } = await fc.check(agreement(fault), { numRuns: RUNS, seed: SEED, endOnFailure: true });
      assert.ok(failed, `seed ${SEED}`);
    });
  }
});
