import { readSlices, say } from './command-line.ts';
import { type Gateway, LANE, startEach, startUpstream } from './gateways/gateway.ts';
import { startRelay } from './gateways/relay.ts';
import { requestBytes } from './load/client-connection.ts';
import { type LatencySlice, latencySlice } from './load/latency-slice.ts';
import { pinToLoadCore } from './pinned-process.ts';
import { smallBody } from './request-bodies.ts';
import { type Round, runRounds } from './rounds.ts';
import { median, rounded, type Spread, spread } from './statistics.ts';

export const GUARDRAILS_USAGE = `guardrails: latency that one local guardrail adds to a request, bound and unbound
  --slices N       rounds (20)
  --slice-ms N     length of a slice (2000)
  --short          a smoke run of a few seconds: 3 slices of 300 ms; its results are not meaningful`;

const WARM_UP_SLICES = 3;

/** Without any, with one that is enabled and bound to nothing, and with one that is bound to everything. */
const NAMES = ['none', 'unbound', 'bound'] as const;
type Name = (typeof NAMES)[number];
type Rounds = readonly Round<Name, LatencySlice>[];

export interface GuardrailFigures {
  readonly p50_ratio: number;
  readonly p99_ratio: number;
  readonly none_bound_ratio: number;
  readonly p50_ratio_spread: Spread;
  readonly p99_ratio_spread: Spread;
  readonly none_bound_ratio_spread: Spread;
  readonly none_p50_ms: number;
  readonly bound_p50_ms: number;
  readonly none_p99_ms: number;
  readonly bound_p99_ms: number;
}

export async function guardrails(args: readonly string[]): Promise<GuardrailFigures> {
  const { slices, sliceMs } = readSlices(args, { sliceMs: 2_000, shortSliceMs: 300 });
  pinToLoadCore();
  const started: { stop(): Promise<void> }[] = [];
  try {
    const upstream = await startUpstream();
    started.push(upstream);
    const gateways = await startEach(NAMES, started, (guardrail) =>
      startRelay(upstream.url, { setup: { candidates: 1, limited: false, guardrail } }),
    );
    return figuresOf(await measureRounds(gateways, slices, sliceMs));
  } finally {
    await Promise.all(started.reverse().map((each) => each.stop()));
  }
}

async function measureRounds(
  gateways: Readonly<Record<Name, Gateway>>,
  slices: number,
  sliceMs: number,
): Promise<Rounds> {
  const measure = async (name: Name) => {
    const { port, pid, headers } = gateways[name];
    const request = requestBytes(port, headers, smallBody(LANE));
    const slice = await latencySlice({ port, pid, request, sliceMs });
    say(
      `  ${name.padEnd(10)}${slice.requests} requests, p50 ${rounded(slice.p50Ms, 3)} ms, p99 ${rounded(slice.p99Ms, 3)} ms`,
    );
    return slice;
  };
  return runRounds(NAMES, slices, measure, WARM_UP_SLICES);
}

function figuresOf(rounds: Rounds): GuardrailFigures {
  const times = (name: Name, which: 'p50Ms' | 'p99Ms') => rounds.map((round) => round[name][which]);
  const ratios = (of: Name, which: 'p50Ms' | 'p99Ms') =>
    rounds.map((round) => round[of][which] / round.none[which]);
  const [p50, p99, unbound] = [
    ratios('bound', 'p50Ms'),
    ratios('bound', 'p99Ms'),
    ratios('unbound', 'p50Ms'),
  ];
  return {
    p50_ratio: rounded(median(p50), 3),
    p99_ratio: rounded(median(p99), 3),
    none_bound_ratio: rounded(median(unbound), 3),
    p50_ratio_spread: spread(p50, 3),
    p99_ratio_spread: spread(p99, 3),
    none_bound_ratio_spread: spread(unbound, 3),
    none_p50_ms: rounded(median(times('none', 'p50Ms')), 3),
    bound_p50_ms: rounded(median(times('bound', 'p50Ms')), 3),
    none_p99_ms: rounded(median(times('none', 'p99Ms')), 3),
    bound_p99_ms: rounded(median(times('bound', 'p99Ms')), 3),
  };
}
