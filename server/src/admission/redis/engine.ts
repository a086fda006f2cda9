import { prefixOf, prefixOfShard, SHARDS } from '../../store/redis/shards.ts';
import type { AdmissionEngine } from '../engine.ts';
import type { Scripts } from './scripts.ts';
import { admitArguments, listOf, openingArguments, readAnswer, readUsage, recountArguments } from './wire.ts';

const SWEPT_PER_CALL = 100;

export interface RedisEngineDeps {
  readonly scripts: Scripts;
  /** Where wake-ups for this process are sent. */
  readonly gatewayId: string;
  /** For tests; otherwise Redis's own clock decides. */
  readonly nowMs?: () => number;
}

/** The rules of the memory engine; each call is one atomic script in the organization's slot. */
export function createRedisEngine({ scripts, gatewayId, nowMs }: RedisEngineDeps): AdmissionEngine {
  const time = () => (nowMs === undefined ? '' : String(nowMs()));
  const prefixFor = rememberPrefixes();

  return {
    async admit(ask) {
      const args = [time(), ...admitArguments(ask, gatewayId)];
      return readAnswer(await scripts.run('admit', prefixFor(ask.organizationId), args), ask.candidates);
    },
    async settle({ organizationId, operationId, actual, record }) {
      const { dispatched, tokens, spendMicros } = actual;
      const used = [dispatched ? '1' : '0', String(tokens), String(spendMicros)];
      const args = [time(), operationId, ...used, record];
      const reply = await scripts.run('settle', prefixFor(organizationId), args);
      return reply === 'settled' ? 'settled' : 'unknown';
    },
    async void(organizationId, operationId) {
      await scripts.run('void', prefixFor(organizationId), [time(), operationId]);
    },
    async extend(organizationId, operationIds, leaseMs) {
      const args = [time(), String(leaseMs), ...operationIds];
      return listOf(await scripts.run('extend', prefixFor(organizationId), args)).map(String);
    },
    async restore(ask, candidate, agoMs) {
      const restored = ['restore', String(candidate), String(Math.floor(agoMs))];
      const args = [time(), ...admitArguments(ask, gatewayId, restored)];
      const reply = await scripts.run('admit', prefixFor(ask.organizationId), args);
      return listOf(reply)[0] !== 'rebuild';
    },
    async penalize(organizationId, endpointId, forMs) {
      const args = [time(), organizationId, endpointId, String(Math.ceil(forMs))];
      await scripts.run('penalize', prefixFor(organizationId), args);
    },
    async sweep() {
      let ended = 0;
      for (let shard = 0; shard < SHARDS; shard += 1) {
        // Bounded: the next sweep takes the rest of a shard. A shard that is unavailable does not stop the others.
        const swept = scripts.run('sweep', prefixOfShard(shard), [time(), String(SWEPT_PER_CALL)]);
        ended += Number(await swept.catch(() => 0));
      }
      return ended;
    },
    async initialize(organizationId, openings) {
      const args = openingArguments(openings);
      await scripts.run('initialize', prefixFor(organizationId), [time(), organizationId, ...args]);
    },
    async recount(organizationId, recounts) {
      const args = recountArguments(recounts);
      const changed = await scripts.run('recount', prefixFor(organizationId), [
        time(),
        organizationId,
        ...args,
      ]);
      return Number(changed);
    },
    async usage(organizationId, limits) {
      if (limits.length === 0) return [];
      const args = limits.flatMap(({ id, metric, period }) => [id, metric, period]);
      const reply = await scripts.run('usage', prefixFor(organizationId), [time(), organizationId, ...args]);
      return readUsage(reply, limits);
    },
  };
}

/** Hashing costs more than a lookup; the organizations that a process serves bound the map. */
function rememberPrefixes(): (organizationId: string) => string {
  const prefixes = new Map<string, string>();
  return (organizationId) => {
    const known = prefixes.get(organizationId);
    if (known !== undefined) return known;
    const prefix = prefixOf(organizationId);
    prefixes.set(organizationId, prefix);
    return prefix;
  };
}
