import type { Round } from '../rounds.ts';
import { median, rounded, type Spread, spread } from '../statistics.ts';
import type { EngineSlice } from './engine-slice.ts';

/** This checkout (`now`) and the other (`before`), each in batches of one and of sixteen. */
export const CONTESTANTS = ['before 1', 'before 16', 'now 1', 'now 16'] as const;
export type ContestantName = (typeof CONTESTANTS)[number];

export interface EngineFigures {
  readonly redis_cpu_ratio_1: number;
  readonly redis_cpu_ratio_16: number;
  /** What one core of Redis serves of one organization. */
  readonly per_second_one_organization: number;
  readonly aof_bytes: number;
  readonly [figure: string]: number | Spread;
}

export function engineFigures(rounds: readonly Round<ContestantName, EngineSlice>[]): EngineFigures {
  const values = (name: ContestantName, figure: 'cpuUs' | 'aofBytes' | 'scriptCalls') =>
    rounds.map((round) => round[name][figure]);
  const ratios = (of: ContestantName, to: ContestantName) =>
    rounds.map((round) => round[of].cpuUs / round[to].cpuUs);
  const middle = (name: ContestantName, figure: 'cpuUs' | 'aofBytes' | 'scriptCalls', digits: number) =>
    rounded(median(values(name, figure)), digits);
  const [one, sixteen] = [ratios('now 1', 'before 1'), ratios('now 16', 'before 16')];
  return {
    redis_cpu_ratio_1: rounded(median(one), 3),
    redis_cpu_ratio_16: rounded(median(sixteen), 3),
    per_second_one_organization: Math.floor(1e6 / median(values('now 16', 'cpuUs'))),
    aof_bytes: middle('now 16', 'aofBytes', 0),
    redis_cpu_ratio_1_spread: spread(one, 3),
    redis_cpu_ratio_16_spread: spread(sixteen, 3),
    redis_cpu_us_1: middle('now 1', 'cpuUs', 1),
    redis_cpu_us_16: middle('now 16', 'cpuUs', 1),
    redis_cpu_us_1_before: middle('before 1', 'cpuUs', 1),
    redis_cpu_us_16_before: middle('before 16', 'cpuUs', 1),
    aof_bytes_1: middle('now 1', 'aofBytes', 0),
    aof_bytes_before: middle('before 16', 'aofBytes', 0),
    script_calls_1: middle('now 1', 'scriptCalls', 2),
    script_calls_16: middle('now 16', 'scriptCalls', 2),
  };
}
