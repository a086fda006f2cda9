import { say } from '../command-line.ts';
import type { Gateway } from '../gateways/gateway.ts';
import { openCounters } from '../limits/redis-counters.ts';
import { type Round, runRounds } from '../rounds.ts';
import { median, percentile, ratiosOf, rounded } from '../statistics.ts';
import { type Replay, type ReplaySlice, replaySlice } from './replay.ts';

/** What is compared. Several processes of the same code, because two starts of it differ by up to a quarter. */
export type Contestants<Name extends string> = ReadonlyMap<Name, readonly Gateway[]>;

export interface ReplayRounds<Name extends string> {
  readonly names: readonly Name[];
  /** CPU of each slice, of all processes of that name, for one request or one frame of a stream. */
  us(name: Name): number[];
  /** CPU of the main thread of the gateway's Redis in each slice, for one request. */
  redisUs(name: Name): number[];
  /** Of the slices of one round, process by process. */
  ratios(of: Name, to: Name): number[];
  /** The ratio of the quicker slices: what disturbs a slice makes it dearer, never cheaper. */
  ratio(of: Name, to: Name): number;
  /** The middle slice to the quicker ones: how much the machine disturbs. */
  spread(name: Name): number;
  /** How much of the gateways' core other processes used, in the middle slice. */
  readonly othersShare: number;
}

interface Slice extends ReplaySlice {
  /** Not a number without a Redis. */
  readonly redisUs: number;
}

const QUICKER_SHARE = 0.25;

export interface ReplayRoundsOptions<Name extends string> {
  /** What a figure is for. */
  readonly unit: 'requests' | 'frames';
  /** At most. */
  readonly rounds: number;
  /** Slices of each process before the first round. */
  readonly warmUps: number;
  /** Whether the rounds so far, `count` of them, say all. */
  readonly isEnough?: (rounds: ReplayRounds<Name>, count: number) => boolean;
}

export async function replayRounds<Name extends string>(
  contestants: Contestants<Name>,
  replay: Replay,
  { unit, rounds, warmUps, isEnough }: ReplayRoundsOptions<Name>,
): Promise<ReplayRounds<Name>> {
  const names = [...contestants.keys()];
  const processes = new Map<string, Gateway>();
  for (const [name, gateways] of contestants)
    for (const [index, gateway] of gateways.entries()) processes.set(`${name}#${index + 1}`, gateway);
  const ids = [...processes.keys()];
  const measure = async (id: string): Promise<Slice> => measureSlice(processes.get(id) as Gateway, replay);
  const usOf = (slice: Slice) => (slice.cpuMs * 1_000) / slice[unit];
  const summaryOf = (results: readonly Round<string, Slice>[]): ReplayRounds<Name> => {
    const slicesOf = (name: Name) =>
      results.flatMap((round) =>
        ids.filter((id) => id.startsWith(`${name}#`)).map((id) => round[id] as Slice),
      );
    const us = (name: Name) => slicesOf(name).map(usOf);
    return {
      names,
      us,
      redisUs: (name) => slicesOf(name).map(({ redisUs }) => redisUs),
      ratios: (of, to) => ratiosOf(us(of), us(to)),
      ratio: (of, to) => percentile(us(of), QUICKER_SHARE) / percentile(us(to), QUICKER_SHARE),
      spread: (name) => median(us(name)) / percentile(us(name), QUICKER_SHARE),
      othersShare: median(names.flatMap(slicesOf).map(({ othersShare }) => othersShare)),
    };
  };
  const results = await runRounds(
    ids,
    rounds,
    measure,
    warmUps,
    (soFar) => isEnough?.(summaryOf(soFar), soFar.length) ?? false,
  );
  for (const id of ids) {
    const us = results.map((round) => usOf(round[id] as Slice));
    say(
      `  ${id.padEnd(20)}${rounded(percentile(us, QUICKER_SHARE), 1)} µs, median ${rounded(median(us), 1)} µs`,
    );
  }
  return summaryOf(results);
}

async function measureSlice(gateway: Gateway, replay: Replay): Promise<Slice> {
  if (gateway.redisUrl === undefined) return { ...(await replaySlice(gateway, replay)), redisUs: Number.NaN };
  const counters = await openCounters(gateway.redisUrl);
  try {
    const before = await counters.read();
    const slice = await replaySlice(gateway, replay);
    const after = await counters.read();
    const usedMs = after.mainThreadCpuMs - before.mainThreadCpuMs;
    return { ...slice, redisUs: (usedMs * 1_000) / slice.requests };
  } finally {
    counters.close();
  }
}
