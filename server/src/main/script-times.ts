import type { Scripts } from '../admission/redis/scripts.ts';
import type { Clock } from '../kit/clock.ts';
import { createTally, type Labels, type Tally } from '../kit/metrics.ts';
import { SHARDS, shardOfPrefix } from '../store/redis/shards.ts';
import { metricTable } from './metric-table.ts';

const SHOWN_MAX = 20;
const IN_USE_MS = 60_000;
/** A call counts for a sixteenth of the average. */
const WEIGHT = 1 / 16;

export interface ScriptTimes {
  /** Times every script without changing it. */
  timedScripts(scripts: Scripts): Scripts;
  readonly scriptTimes: Tally;
  slowestShards(): [Labels, number][];
}

export function timeScripts(clock: Clock): ScriptTimes {
  const scriptTimes = createTally(metricTable.relay_redis_script_seconds.bounds);
  const averageMs = new Float64Array(SHARDS);
  const usedAtMs = new Float64Array(SHARDS).fill(Number.NEGATIVE_INFINITY);

  function note(prefix: string, startMs: number): void {
    const nowMs = clock.monotonicMs();
    const tookMs = nowMs - startMs;
    const shard = shardOfPrefix(prefix);
    const known = averageMs[shard] ?? 0;
    const isFirst = nowMs - (usedAtMs[shard] ?? 0) > IN_USE_MS;
    scriptTimes.observe(tookMs / 1_000);
    averageMs[shard] = isFirst ? tookMs : known + (tookMs - known) * WEIGHT;
    usedAtMs[shard] = nowMs;
  }

  return {
    scriptTimes,
    timedScripts: (scripts) => ({
      ...scripts,
      async run(name, prefix, args, told) {
        const startMs = clock.monotonicMs();
        try {
          return await scripts.run(name, prefix, args, told);
        } finally {
          note(prefix, startMs);
        }
      },
    }),
    slowestShards() {
      const nowMs = clock.monotonicMs();
      return [...averageMs.entries()]
        .filter(([shard]) => nowMs - (usedAtMs[shard] ?? 0) <= IN_USE_MS)
        .sort(([, one], [, other]) => other - one)
        .slice(0, SHOWN_MAX)
        .map(([shard, ms]) => [{ shard: `s${shard}` }, ms / 1_000]);
    },
  };
}
