import { say } from '../command-line.ts';
import { openCounters } from '../limits/redis-counters.ts';
import { requestBytes } from '../load/client-connection.ts';
import { type LoadSlice, loadSlice } from '../load/load-slice.ts';
import { type Round, runRounds } from '../rounds.ts';
import { ratiosOf, rounded, type Spread } from '../statistics.ts';
import { othersShareOf, toBefore } from './compare-rounds.ts';
import type { Gateways, Name } from './gateways.ts';
import type { Settings } from './settings.ts';

const WARM_UP_SLICE_MS = 500;
const WARM_UP_SLICES_MAX = 30;

interface Load {
  readonly body: Buffer;
  readonly connections: number;
  readonly streaming: boolean;
}

export interface LoadRounds {
  /** The gateways that took part. */
  readonly names: readonly Name[];
  /** CPU of each round, for one request or one frame of a stream. */
  us(name: Name): number[];
  /** CPU of the main thread of the gateway's Redis, for one request. */
  redisUs(name: Name): number[];
  ratios(of: Name, to: Name): number[];
  /** CPU to that of the other checkout; empty without one. */
  toBefore(part: string, of: Name, before: Name): Record<string, Spread>;
  /** How much of the gateways' core other processes used, in the middle slice. */
  readonly othersShare: number;
}

export async function loadRounds(
  gateways: Gateways,
  wanted: readonly Name[],
  settings: Settings,
  { body, connections, streaming }: Load,
): Promise<LoadRounds> {
  const names = gateways.started(wanted);
  const unit = streaming ? 'frames' : 'requests';
  const measure = async (name: Name, sliceMs: number): Promise<MeasuredSlice> => {
    const { port, pid, headers, redisUrl } = gateways.get(name);
    const request = requestBytes(port, headers, body);
    const slice = () => loadSlice({ port, pid, nextRequest: () => request, connections, sliceMs, streaming });
    return redisUrl === undefined
      ? { ...(await slice()), redisUs: Number.NaN }
      : withRedisCpu(redisUrl, slice);
  };
  for (const name of names) await warmUp(() => measure(name, WARM_UP_SLICE_MS), settings.warmUpCpuMs);
  const rounds: readonly Round<Name, MeasuredSlice>[] = await runRounds(
    names,
    settings.slices,
    async (name) => {
      const slice = await measure(name, settings.sliceMs);
      say(`  ${name.padEnd(16)}${slice[unit]} ${unit}, ${rounded(cpuUs(slice, unit), 1)} µs each`);
      return slice;
    },
  );
  const us = (name: Name) => rounds.map((round) => cpuUs(round[name], unit));
  const ratios = (of: Name, to: Name) => ratiosOf(us(of), us(to));
  return {
    names,
    us,
    redisUs: (name) => rounds.map((round) => round[name].redisUs),
    ratios,
    toBefore: (part, of, before) => toBefore(part, names.includes(before) ? ratios(of, before) : null),
    othersShare: othersShareOf(names, rounds),
  };
}

interface MeasuredSlice extends LoadSlice {
  /** Not a number without a Redis. */
  readonly redisUs: number;
}

/** Of everything that the slice made Redis do, before and after the measured time too. */
async function withRedisCpu(redisUrl: string, measure: () => Promise<LoadSlice>): Promise<MeasuredSlice> {
  const counters = await openCounters(redisUrl);
  try {
    const before = await counters.read();
    const slice = await measure();
    const after = await counters.read();
    const usedMs = after.mainThreadCpuMs - before.mainThreadCpuMs;
    return { ...slice, redisUs: (usedMs * 1_000) / slice.answered };
  } finally {
    counters.close();
  }
}

/** Node compiles code while it runs, so the first seconds of a process's CPU time do not represent the rest. */
async function warmUp(measure: () => Promise<LoadSlice>, cpuMsMin: number): Promise<void> {
  let cpuMs = 0;
  for (let slice = 0; slice < WARM_UP_SLICES_MAX && cpuMs < cpuMsMin; slice += 1)
    cpuMs += (await measure()).cpuMs;
}

function cpuUs(slice: LoadSlice, unit: 'requests' | 'frames'): number {
  if (slice[unit] === 0) throw new Error(`a slice passed without ${unit}`);
  return (slice.cpuMs * 1_000) / slice[unit];
}
