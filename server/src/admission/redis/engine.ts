import { prefixOf, prefixOfShard, SHARDS } from '../../store/redis/shards.ts';
import type { AdmissionAnswer, AdmissionAsk, AdmissionEngine, CandidateAsk, Refusal } from '../engine.ts';
import type { Scripts } from './scripts.ts';

const SWEPT_PER_CALL = 100;

export interface RedisEngineDeps {
  readonly scripts: Scripts;
  /** Where wake-ups for this process are sent. */
  readonly gatewayId: string;
  /** Tests bring their own time; in service the time is Redis's. */
  readonly nowMs?: () => number;
}

/** The same rules as the reference, each call one atomic script in the organization's slot. */
export function createRedisEngine(deps: RedisEngineDeps): AdmissionEngine {
  const { scripts } = deps;
  const time = () => (deps.nowMs === undefined ? '' : String(deps.nowMs()));
  const prefixes = new Map<string, string>();

  /** Hashing costs more than remembering; the number of organizations a process serves bounds the map. */
  function prefixFor(organizationId: string): string {
    const known = prefixes.get(organizationId);
    if (known !== undefined) return known;
    const prefix = prefixOf(organizationId);
    prefixes.set(organizationId, prefix);
    return prefix;
  }

  return {
    async admit(ask) {
      const args = [time(), ...argumentsOf(ask, deps.gatewayId)];
      const reply = (await scripts.run('admit', prefixFor(ask.organizationId), args)) as (string | number)[];
      return readAnswer(reply, ask.candidates);
    },
    async settle({ organizationId, operationId, actual, record }) {
      const reply = await scripts.run('settle', prefixFor(organizationId), [
        time(),
        operationId,
        actual.dispatched ? '1' : '0',
        String(actual.tokens),
        String(actual.spendMicros),
        record,
      ]);
      return reply === 'settled' ? 'settled' : 'unknown';
    },
    async void(organizationId, operationId) {
      await scripts.run('void', prefixFor(organizationId), [time(), operationId]);
    },
    async extend(organizationId, operationIds, leaseMs) {
      const args = [time(), String(leaseMs), ...operationIds];
      return (await scripts.run('extend', prefixFor(organizationId), args)) as string[];
    },
    async restore(ask, candidate, agoMs) {
      const placed = ['restore', String(candidate), String(Math.floor(agoMs))];
      const args = [time(), ...argumentsOf(ask, deps.gatewayId, placed)];
      const reply = await scripts.run('admit', prefixFor(ask.organizationId), args);
      return (reply as string[])[0] !== 'rebuild';
    },
    async penalize(organizationId, endpointId, forMs) {
      const args = [time(), organizationId, endpointId, String(Math.ceil(forMs))];
      await scripts.run('penalize', prefixFor(organizationId), args);
    },
    async sweep() {
      let ended = 0;
      for (let shard = 0; shard < SHARDS; shard += 1) {
        // Bounded: a shard with more than this to end is swept again the next time. One that is away holds up no other.
        const swept = scripts.run('sweep', prefixOfShard(shard), [time(), String(SWEPT_PER_CALL)]);
        ended += Number(await swept.catch(() => 0));
      }
      return ended;
    },
    async initialize(organizationId, openings) {
      const args = openings.flatMap(({ policy: { id, metric, period }, startMs, amount }) => [
        id,
        metric,
        period,
        String(startMs),
        String(amount),
      ]);
      await scripts.run('initialize', prefixFor(organizationId), [time(), organizationId, ...args]);
    },
    async usage(organizationId, policies) {
      if (policies.length === 0) return [];
      const args = policies.flatMap(({ id, metric, period }) => [id, metric, period]);
      const reply = (await scripts.run('usage', prefixFor(organizationId), [
        time(),
        organizationId,
        ...args,
      ])) as number[];
      return policies.map(({ id }, index) => ({
        policyId: id,
        used: reply[index * 3] ?? 0,
        reserved: reply[index * 3 + 1] ?? 0,
        resetMs: reply[index * 3 + 2] ?? 0,
      }));
    },
  };
}

/** Flat, in the order that `script/admit.lua` reads; the time goes before. */
function argumentsOf(ask: AdmissionAsk, gatewayId: string, restored?: readonly string[]): string[] {
  const { release } = ask;
  const list = [
    ask.organizationId,
    ask.operationId,
    ask.queue,
    String(ask.waitersMax),
    ask.selection,
    String(Math.floor(ask.waitMsMax)),
    String(ask.leaseMs),
    gatewayId,
    ask.draft,
    ...(restored ?? [
      release === undefined ? '' : release.dispatched ? '1' : '0',
      String(release?.tokens ?? 0),
      String(release?.spendMicros ?? 0),
    ]),
    String(ask.candidates.length),
  ];
  for (const { endpointId, paced, charges } of ask.candidates) {
    list.push(endpointId, paced ? '1' : '0', String(charges.length));
    for (const { policy, cost } of charges) {
      list.push(policy.id, policy.metric, policy.period, String(policy.limit), String(cost));
    }
  }
  return list;
}

function readAnswer(
  reply: readonly (string | number)[],
  candidates: readonly CandidateAsk[],
): AdmissionAnswer {
  const [kind, second, third, fourth, fifth] = reply;
  if (kind === 'refused') {
    return {
      kind,
      reason: second as Refusal['reason'],
      retryAfterMs: Number(third),
      policyId: fourth === '' ? null : String(fourth),
      resetMs: Number(fifth),
    };
  }
  if (kind === 'rebuild') return { kind, policyIds: reply.slice(1).map(String) };
  const candidate = Number(second);
  if (kind === 'wait') {
    const policyId = fourth === undefined || fourth === '' ? null : String(fourth);
    return { kind, candidate, waitMs: Number(third), policyId };
  }
  if (kind === 'line') return { kind, candidate, policyId: String(third) };
  const charges = candidates[candidate]?.charges ?? [];
  const windows = charges.map(({ policy }, index) => ({
    policyId: policy.id,
    used: Number(reply[index * 2 + 2]),
    resetMs: Number(reply[index * 2 + 3]),
  }));
  return { kind: 'admitted', candidate, windows };
}
