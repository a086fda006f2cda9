import { tagOf } from '../harness/provider-view.ts';
import { afterMs } from '../harness/until.ts';
import { answersOf, askAll, errorOf, header } from './ask.ts';
import type { Fleet } from './fleet.ts';

export interface SpendResult {
  readonly served: number;
  readonly exhausted: number;
  readonly strange: readonly string[];
  readonly budgetMicros: number;
  readonly billedMicros: number;
  readonly overspentMicros: number;
  /** As counted by the admission engine after settlement. */
  readonly usedMicros: number;
}

const REQUESTS = 200;
const WORTH_REQUESTS = 50;
const MAX_TOKENS = 100;
/** A micro-dollar for a token of input, four for one of output. */
const INPUT_PRICE = 1_000_000;
const OUTPUT_PRICE = 4_000_000;

/** Far more concurrent requests than the budget covers; the provider's counts are the bill. */
export async function spendTooMuch(
  fleet: Fleet,
  model: string,
  period: 'day' | 'month',
): Promise<SpendResult> {
  const { laneId, endpointIds } = await fleet.lane(model, { lane: { default_max_wait_ms: 2_000 } });
  await fleet.deployment.admin.create('/api/relay/pricing-policies', {
    endpoint_id: endpointIds[0],
    currency: 'USD',
    input_cost_micros_per_1m_tokens: INPUT_PRICE,
    output_cost_micros_per_1m_tokens: OUTPUT_PRICE,
  });
  const [probe] = await answersOf(askAll(fleet, [{ model, tag: `${model}-probe`, maxTokens: MAX_TOKENS }]));
  const input = probe === undefined ? 0 : Number(header(probe, 'estimatedInputTokens'));
  const budgetMicros = WORTH_REQUESTS * (input + 4 * MAX_TOKENS);
  const policy = { scope_type: 'lane', scope_id: laneId, metric: 'spend', period } as const;
  // A new window starts from the ledger, which holds the probe.
  const spentMicros = await spentSoFar(fleet, model);
  const [policyId = ''] = await fleet.policies({ ...policy, limit_value: budgetMicros + spentMicros });
  const answers = await answersOf(
    askAll(
      fleet,
      Array.from({ length: REQUESTS }, (_, index) => ({
        model,
        tag: `${model}-${index}`,
        maxTokens: MAX_TOKENS,
        sim: { outputTokens: MAX_TOKENS, delayMs: 50 },
      })),
    ),
  );
  const served = answers.filter(({ status }) => status === 200);
  const exhausted = answers.filter(
    (answer) =>
      answer.status === 429 &&
      header(answer, 'shouldRetry') === 'false' &&
      errorOf(answer).code === 'budget_exhausted' &&
      errorOf(answer).policy?.id === policyId,
  );
  const strange = answers.filter((answer) => !served.includes(answer) && !exhausted.includes(answer));
  const billedMicros = (await spentSoFar(fleet, model)) - spentMicros;
  const used = await usedWhenSettled(fleet, policyId, billedMicros + spentMicros);
  await fleet.remove(policyId);
  return {
    served: served.length,
    exhausted: exhausted.length,
    strange: [...new Set(strange.map(({ status, text }) => `${status} ${text.slice(0, 200)}`))].slice(0, 5),
    budgetMicros,
    billedMicros,
    overspentMicros: Math.max(0, billedMicros - budgetMicros),
    usedMicros: used - spentMicros,
  };
}

/** Relay settles a response shortly after sending it. */
async function usedWhenSettled(fleet: Fleet, policyId: string, expected: number): Promise<number> {
  for (let turn = 0; ; turn += 1) {
    const { used } = await fleet.usage(policyId);
    if (used === expected || turn === 50) return used;
    await afterMs(50);
  }
}

/** What the provider would bill for this lane. */
async function spentSoFar(fleet: Fleet, model: string): Promise<number> {
  const log = await fleet.provider.log();
  return log
    .filter((entry) => tagOf(entry).startsWith(`${model}-`))
    .reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + 4 * completionTokens, 0);
}
