import { type SchedulerWatch, watchScheduler } from '@relay/testbed';
import { liveKeys } from '../harness/live-state.ts';
import { tagOf, tokensOf } from '../harness/provider-view.ts';
import { afterMs } from '../harness/until.ts';
import { type Asked, answersOf, ask } from './ask.ts';
import type { Fleet } from './fleet.ts';
import { type LedgerSums, ledgerSums } from './ledger-sums.ts';

export interface LostGatewayResult {
  /** Dispatched before the kill, as the provider saw it. */
  readonly dispatched: number;
  readonly waiting: number;
  readonly leftAfterMs: number;
  /** Live state left after all leases have expired. */
  readonly left: readonly string[];
  readonly ledger: LedgerSums;
  readonly windows: { readonly requests: number; readonly tokens: number };
  /** Dispatched requests without exactly one row. */
  readonly wrongRows: number;
  /** The provider's counts; rows of the killed gateway are estimates and may only be higher. */
  readonly providerTokens: number;
}

const OVER_MS_MAX = 40_000;
const MAX_TOKENS = 20;

export interface LostGateway {
  /** After its leases have expired. */
  readonly over: Promise<LostGatewayResult>;
  /** Since the kill. */
  readonly watch: SchedulerWatch;
}

/**
 * Kills a gateway that has requests in flight and requests queued for a concurrency limit. Checks what it leaves behind
 * after its leases expire; other lanes may be used meanwhile.
 */
export async function loseGateway(fleet: Fleet, model: string, count: number): Promise<LostGateway> {
  const { laneId, endpointIds } = await fleet.lane(model, {
    lane: { default_max_wait_ms: 120_000 },
    endpoint: { max_concurrency: count + 1 },
  });
  const scope = { scope_type: 'lane', scope_id: laneId, period: 'day' } as const;
  const [requests = '', tokens = ''] = await fleet.policies(
    { ...scope, metric: 'requests', limit_value: 1_000_000 },
    { ...scope, metric: 'tokens', limit_value: 100_000_000 },
  );
  const victim = await fleet.deployment.startProcess();
  // Served by the other gateways, so that the windows hold settled requests too.
  await ask(fleet, { model, tag: `${model}-settled`, maxTokens: MAX_TOKENS }).answer;
  const send = (kind: string): Asked[] =>
    Array.from({ length: count }, (_, index) =>
      ask(fleet, {
        model,
        tag: `${model}-${kind}-${index}`,
        maxTokens: MAX_TOKENS,
        url: victim.url,
        sim: { delayMs: 120_000 },
      }),
    );
  const underWay = send('under-way');
  await until(async () => (await dispatchedTags(fleet, model)).length >= count + 1, 'not all are dispatched');
  // The last slot goes to a request at another gateway, which must not be disturbed by what follows.
  const neighbour = ask(fleet, {
    model,
    tag: `${model}-neighbour`,
    maxTokens: MAX_TOKENS,
    sim: { delayMs: 3_000 },
  });
  await until(async () => (await dispatchedTags(fleet, model)).length >= count + 2, 'the neighbour waits');
  const waiting = send('waiting');
  await until(async () => (await leases(fleet)) >= 2 * count + 1, 'not all of them wait');
  const held = (await liveKeys(fleet.redisPorts)).filter((key) => key.includes(':leases:'));
  await victim.kill();
  const killedMs = performance.now();
  const watch = watchScheduler(fleet.deployment.processes);
  await answersOf([...underWay, ...waiting, neighbour]);
  const isOurs = (key: string) =>
    held.includes(key) || [laneId, ...endpointIds].some((id) => key.includes(id));
  return { over: settled().finally(() => watch[Symbol.dispose]()), watch };

  async function settled(): Promise<LostGatewayResult> {
    const ours = async () => (await liveKeys(fleet.redisPorts)).filter(isOurs);
    await until(async () => (await ours()).length === 0, 'something lives on', false);
    const leftAfterMs = Math.round(performance.now() - killedMs);
    const log = (await fleet.provider.log()).filter((entry) => tagOf(entry).startsWith(`${model}-`));
    const dispatched = log.map(tagOf);
    const read = () => ledgerSums(fleet.deployment.postgres.url, laneId);
    await until(async () => (await read()).requests >= dispatched.length, 'rows are missing', false);
    const ledger = await read();
    const rowsOf = new Map<string, number>();
    for (const id of ledger.requestIds) rowsOf.set(id, (rowsOf.get(id) ?? 0) + 1);
    const windows = {
      requests: (await fleet.usage(requests)).used,
      tokens: (await fleet.usage(tokens)).used,
    };
    return {
      dispatched: dispatched.length,
      waiting: held.length - count - 1,
      leftAfterMs,
      left: await ours(),
      ledger,
      windows,
      wrongRows: dispatched.filter((tag) => rowsOf.get(tag) !== 1).length,
      providerTokens: log.reduce((sum, entry) => sum + tokensOf(entry), 0),
    };
  }
}

async function leases(fleet: Fleet): Promise<number> {
  return (await liveKeys(fleet.redisPorts)).filter((key) => key.includes(':leases:')).length;
}

async function dispatchedTags(fleet: Fleet, model: string): Promise<string[]> {
  return (await fleet.provider.log()).map(tagOf).filter((tag) => tag.startsWith(`${model}-`));
}

/** `must`: throws if the condition never holds; otherwise the caller checks the result. */
async function until(holds: () => Promise<boolean>, what: string, must = true): Promise<void> {
  const endMs = performance.now() + OVER_MS_MAX;
  while (!(await holds())) {
    if (performance.now() > endMs) {
      if (must) throw new Error(what);
      return;
    }
    await afterMs(100);
  }
}
