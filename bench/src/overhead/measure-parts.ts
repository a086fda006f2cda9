import { say } from '../command-line.ts';
import { LANE } from '../gateways/gateway.ts';
import { requestBytes } from '../load/client-connection.ts';
import { latencySlice } from '../load/latency-slice.ts';
import { type LoadSlice, loadSlice } from '../load/load-slice.ts';
import { bigBody, smallBody, streamBody } from '../request-bodies.ts';
import { type Round, runRounds } from '../rounds.ts';
import { median, rounded, type Spread, spread } from '../statistics.ts';
import type { Gateways, Name } from './gateways.ts';
import type { Part, Settings } from './settings.ts';

export type Figures = Record<string, number | Spread | null>;

const CONNECTIONS = 64;
const BIG_CONNECTIONS = 8;
const WARM_UP_SLICE_MS = 500;
const WARM_UP_SLICES_MAX = 30;

export const measurePart: Readonly<
  Record<Part, (gateways: Gateways, settings: Settings) => Promise<Figures>>
> = {
  async requests(gateways, settings) {
    const load = { body: smallBody(LANE), connections: CONNECTIONS, streaming: false };
    const rounds = await loadRounds(gateways, ['bare', 'relay', 'before', 'portkey'], settings, load);
    const us = rounds.names.includes('portkey') ? rounds.us('portkey') : null;
    const toBare = rounds.ratios('relay', 'bare');
    const toPortkey = us === null ? null : rounds.ratios('relay', 'portkey');
    return {
      bare_us: rounded(median(rounds.us('bare')), 1),
      relay_us: rounded(median(rounds.us('relay')), 1),
      portkey_us: us === null ? null : rounded(median(us), 1),
      cpu_ratio_bare: rounded(median(toBare), 3),
      cpu_ratio_portkey: toPortkey === null ? null : rounded(median(toPortkey), 3),
      bare_us_spread: spread(rounds.us('bare'), 1),
      relay_us_spread: spread(rounds.us('relay'), 1),
      portkey_us_spread: us === null ? null : spread(us, 1),
      cpu_ratio_bare_spread: spread(toBare, 3),
      cpu_ratio_portkey_spread: toPortkey === null ? null : spread(toPortkey, 3),
      requests_others_share: rounds.othersShare,
      ...rounds.toBefore('requests', 'relay', 'before'),
    };
  },

  async policies(gateways, settings) {
    const load = { body: smallBody(LANE), connections: CONNECTIONS, streaming: false };
    const names = ['bare+calls', 'relay+policies', 'before+policies', 'relay'] as const;
    const rounds = await loadRounds(gateways, names, settings, load);
    const toBare = rounds.ratios('relay+policies', 'bare+calls');
    return {
      policies_ratio_bare_with_calls: rounded(median(toBare), 3),
      policies_ratio_bare_with_calls_spread: spread(toBare, 3),
      policies_ratio_without: rounded(median(rounds.ratios('relay+policies', 'relay')), 3),
      policies_us: rounded(median(rounds.us('relay+policies')), 1),
      bare_with_calls_us: rounded(median(rounds.us('bare+calls')), 1),
      policies_others_share: rounds.othersShare,
      ...rounds.toBefore('policies', 'relay+policies', 'before+policies'),
    };
  },

  async streams(gateways, settings) {
    const load = { body: streamBody(LANE), connections: CONNECTIONS, streaming: true };
    const rounds = await loadRounds(gateways, ['bare', 'relay', 'before'], settings, load);
    const toBare = rounds.ratios('relay', 'bare');
    return {
      stream_ratio_bare: rounded(median(toBare), 3),
      bare_frame_us: rounded(median(rounds.us('bare')), 1),
      relay_frame_us: rounded(median(rounds.us('relay')), 1),
      stream_ratio_bare_spread: spread(toBare, 3),
      streams_others_share: rounds.othersShare,
      ...rounds.toBefore('streams', 'relay', 'before'),
    };
  },

  async latency(gateways, settings) {
    const names = gateways.started(['bare', 'relay', 'before']);
    const measure = async (name: Name) => {
      const { port, headers } = gateways.get(name);
      const request = requestBytes(port, headers, smallBody(LANE));
      return latencySlice({ port, request, sliceMs: settings.sliceMs });
    };
    for (const name of names) await measure(name);
    const rounds = await runRounds(names, settings.slices, measure);
    const p50Ms = (name: Name) => rounds.map((round) => round[name].p50Ms);
    const addedMs = rounds.map((round) => round.relay.p50Ms - round.bare.p50Ms);
    return {
      added_p50_ms: rounded(median(addedMs), 3),
      added_p50_ms_spread: spread(addedMs, 3),
      bare_p50_ms: rounded(median(p50Ms('bare')), 3),
      relay_p50_ms: rounded(median(p50Ms('relay')), 3),
      ...(names.includes('before')
        ? { latency_ratio_before: spread(ratiosOf(p50Ms('relay'), p50Ms('before')), 3) }
        : {}),
    };
  },

  async 'big-body'(gateways, settings) {
    const load = { body: bigBody(LANE), connections: BIG_CONNECTIONS, streaming: false };
    const rounds = await loadRounds(gateways, ['bare', 'relay', 'before', 'reserialise'], settings, load);
    const toReserialise = rounds.ratios('relay', 'reserialise');
    return {
      big_body_ratio: rounded(median(toReserialise), 3),
      big_body_ratio_spread: spread(toReserialise, 3),
      big_body_bare_us: rounded(median(rounds.us('bare')), 0),
      big_body_relay_us: rounded(median(rounds.us('relay')), 0),
      big_body_reserialise_us: rounded(median(rounds.us('reserialise')), 0),
      big_body_others_share: rounds.othersShare,
      ...rounds.toBefore('big_body', 'relay', 'before'),
    };
  },
};

interface Load {
  readonly body: Buffer;
  readonly connections: number;
  readonly streaming: boolean;
}

interface LoadRounds {
  /** The gateways that took part. */
  readonly names: readonly Name[];
  /** CPU of each round, for one request or one frame of a stream. */
  us(name: Name): number[];
  ratios(of: Name, to: Name): number[];
  /** CPU to that of the other checkout; empty without one. */
  toBefore(part: string, of: Name, before: Name): Figures;
  /** How much of the gateways' core other processes used, in the middle slice. */
  readonly othersShare: number;
}

async function loadRounds(
  gateways: Gateways,
  wanted: readonly Name[],
  settings: Settings,
  { body, connections, streaming }: Load,
): Promise<LoadRounds> {
  const names = gateways.started(wanted);
  const unit = streaming ? 'frames' : 'requests';
  const measure = (name: Name, sliceMs: number) => {
    const { port, pid, headers } = gateways.get(name);
    const request = requestBytes(port, headers, body);
    return loadSlice({ port, pid, request, connections, sliceMs, streaming });
  };
  for (const name of names) await warmUp(() => measure(name, WARM_UP_SLICE_MS), settings.warmUpCpuMs);
  const rounds: readonly Round<Name, LoadSlice>[] = await runRounds(names, settings.slices, async (name) => {
    const slice = await measure(name, settings.sliceMs);
    say(`  ${name.padEnd(16)}${slice[unit]} ${unit}, ${rounded(cpuUs(slice, unit), 1)} µs each`);
    return slice;
  });
  const us = (name: Name) => rounds.map((round) => cpuUs(round[name], unit));
  const ratios = (of: Name, to: Name) => ratiosOf(us(of), us(to));
  return {
    names,
    us,
    ratios,
    toBefore: (part, of, before) =>
      names.includes(before) ? { [`${part}_ratio_before`]: spread(ratios(of, before), 3) } : {},
    othersShare: rounded(median(rounds.flatMap((round) => names.map((name) => round[name].othersShare))), 3),
  };
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

function ratiosOf(of: readonly number[], to: readonly number[]): number[] {
  return of.map((value, index) => value / (to[index] ?? Number.NaN));
}
