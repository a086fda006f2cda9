import { LANE } from '../gateways/gateway.ts';
import { requestBytes } from '../load/client-connection.ts';
import { latencySlice } from '../load/latency-slice.ts';
import { smallBody } from '../request-bodies.ts';
import { runRounds } from '../rounds.ts';
import { median, ratiosOf, type Spread } from '../statistics.ts';
import type { Gateways, Name } from './gateways.ts';
import type { Settings } from './settings.ts';
import { toBefore } from './to-before.ts';

export interface LatencyRounds {
  /** Of each round. */
  p50Ms(name: Name): number[];
  /** What one gateway takes longer than another, in each round. */
  added(of: Name, to: Name): number[];
  /** Latency to that of the other checkout; empty without one. */
  toBefore(part: string, of: Name, before: Name): Record<string, Spread>;
  readonly othersShare: number;
}

/** One connection, one request at a time. */
export async function latencyRounds(
  gateways: Gateways,
  wanted: readonly Name[],
  settings: Settings,
): Promise<LatencyRounds> {
  const started = gateways.started(wanted);
  const names = [...started.keys()];
  const measure = (name: Name) => {
    const [gateway] = started.get(name) ?? [];
    if (gateway === undefined) throw new Error(`${name} was not started`);
    const { port, pid, headers } = gateway;
    const request = requestBytes(port, headers, smallBody(LANE));
    return latencySlice({ port, pid, request, sliceMs: settings.sliceMs });
  };
  for (const name of names) await measure(name);
  const rounds = await runRounds(names, settings.slices, measure);
  const p50Ms = (name: Name) => rounds.map((round) => round[name].p50Ms);
  return {
    p50Ms,
    added: (of, to) => rounds.map((round) => round[of].p50Ms - round[to].p50Ms),
    toBefore: (part, of, before) =>
      toBefore(part, names.includes(before) ? ratiosOf(p50Ms(of), p50Ms(before)) : null),
    othersShare: median(rounds.flatMap((round) => names.map((name) => round[name].othersShare))),
  };
}
