import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { checkoutAt } from './checkouts/checkout.ts';
import { positive, type Slices, say, sliceOptions, slicesOf } from './command-line.ts';
import { demandQuietCore, watchCore } from './core-watch.ts';
import { ROOT, startUpstream } from './gateways/gateway.ts';
import type { LoadSlice } from './load/load-slice.ts';
import { GATEWAY_CORE, pinToLoadCore } from './pinned-process.ts';
import { rssMib } from './process-memory.ts';
import { type Round, runRounds } from './rounds.ts';
import { type SizedGateway, startSized } from './scale/sizes.ts';
import { median, ratiosOf, rounded, type Spread, spread } from './statistics.ts';

const PARTS = ['table', 'requests'] as const;
type Part = (typeof PARTS)[number];

export const SCALE_USAGE = `scale: CPU per request with 1, 1,000 and 10,000 lanes, endpoints, limits, keys and organizations
  --slices N       rounds (20)
  --slice-ms N     length of a slice (1000)
  --hot N          lanes, keys and organizations in use (10000)
  --short          a smoke run: 3 slices of 500 ms, 200 in use, even on a busy machine; its results are not meaningful
  --only PART      ${PARTS.join(', ')}; may be repeated
  --against DIR    another checkout, whose table is also built`;

const SIZES = { '1': 1, '1k': 1_000, '10k': 10_000 } as const;
type SizeName = keyof typeof SIZES;
const NAMES = Object.keys(SIZES) as SizeName[];
const BUILDS = 7;
const WARM_UP_CPU_MS = 5_000;
const WARM_UP_SHORT_CPU_MS = 500;

interface Settings extends Slices {
  readonly hot: number;
  readonly parts: readonly Part[];
  readonly against: string | undefined;
}
type Figures = Record<string, number | Spread | null>;

export async function scale(args: readonly string[]): Promise<Figures> {
  const settings = readSettings(args);
  pinToLoadCore();
  if (!settings.short) await demandQuietCore();
  return {
    hot_ratio_10k: null,
    table_build_ms: null,
    ...(settings.parts.includes('table') ? await measureTable(settings) : {}),
    ...(settings.parts.includes('requests') ? await measureRequests(settings) : {}),
  };
}

function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...sliceOptions,
      hot: { type: 'string' },
      only: { type: 'string', multiple: true, default: [...PARTS] },
      against: { type: 'string' },
    },
  });
  const parts = PARTS.filter((part) => values.only.includes(part));
  if (parts.length !== new Set(values.only).size)
    throw new Error(`--only must be one of ${PARTS.join(', ')}`);
  return {
    ...slicesOf(values, { sliceMs: 1_000, shortSliceMs: 500 }),
    hot: positive('--hot', values.hot ?? (values.short ? '200' : '10000')),
    parts,
    against: values.against === undefined ? undefined : checkoutAt(values.against).root,
  };
}

/** CPU of the thread that builds, which is how long it would serve no request if it built them in one go. */
async function measureTable({ short, against }: Settings): Promise<Figures> {
  const built = async (root: string, size: number) => {
    const file = join(ROOT, 'bench/src/scale/table-build.ts');
    const options = ['--root', root, '--size', String(size), '--times', String(short ? 1 : BUILDS)];
    const args = ['-c', String(GATEWAY_CORE), process.execPath, file, ...options];
    const { stdout } = await promisify(execFile)('taskset', args);
    return JSON.parse(stdout) as { median: number; first: number };
  };
  const [small, large] = [await built(ROOT, SIZES['1k']), await built(ROOT, SIZES['10k'])];
  return {
    table_build_ms: large.median,
    table_build_first_ms: large.first,
    table_build_ms_1k: small.median,
    ...(against === undefined ? {} : { table_build_ms_before: (await built(against, SIZES['10k'])).median }),
  };
}

async function measureRequests(settings: Settings): Promise<Figures> {
  const running: { stop(): Promise<void> }[] = [];
  try {
    const upstream = await startUpstream();
    running.push(upstream);
    const gateways = new Map<SizeName, SizedGateway>();
    for (const name of NAMES) {
      say(`starts a deployment of ${SIZES[name]}`);
      const gateway = await startSized(upstream.url, SIZES[name], settings.hot);
      running.push(gateway);
      gateways.set(name, gateway);
      await gateway.touchAll();
    }
    return await measureRounds(gateways, settings);
  } finally {
    for (const each of running.reverse()) await each.stop();
  }
}

async function measureRounds(
  gateways: ReadonlyMap<SizeName, SizedGateway>,
  settings: Settings,
): Promise<Figures> {
  const gatewayOf = (name: SizeName): SizedGateway => {
    const gateway = gateways.get(name);
    if (gateway === undefined) throw new Error(`${name} was not started`);
    return gateway;
  };
  const warmUpMs = settings.short ? WARM_UP_SHORT_CPU_MS : WARM_UP_CPU_MS;
  for (const name of NAMES)
    for (let cpuMs = 0; cpuMs < warmUpMs; ) cpuMs += (await gatewayOf(name).slice(settings.sliceMs)).cpuMs;
  const watch = watchCore([...gateways.values()].map(({ pid }) => pid));
  const rounds = await runRounds(NAMES, settings.slices, async (name) => {
    const slice = await gatewayOf(name).slice(settings.sliceMs);
    say(`  ${name.padEnd(5)}${slice.requests} requests, ${rounded(cpuUs(slice), 1)} µs each`);
    return slice;
  });
  const shares = rounds.flatMap((round) => NAMES.map((name) => round[name].othersShare));
  if (!settings.short) watch.demandQuiet(median(shares), 'the requests');
  const memory = (name: SizeName) => rounded(rssMib(gatewayOf(name).pid), 0);
  return {
    ...hotFigures(rounds),
    rss_mib_1: memory('1'),
    rss_mib_1k: memory('1k'),
    rss_mib_10k: memory('10k'),
  };
}

function hotFigures(rounds: readonly Round<SizeName, LoadSlice>[]): Figures {
  const us = (name: SizeName) => rounds.map((round) => cpuUs(round[name]));
  const [toOne1k, toOne10k] = [ratiosOf(us('1k'), us('1')), ratiosOf(us('10k'), us('1'))];
  return {
    hot_ratio_10k: rounded(median(toOne10k), 3),
    hot_ratio_1k: rounded(median(toOne1k), 3),
    hot_ratio_10k_spread: spread(toOne10k, 3),
    hot_us_1: rounded(median(us('1')), 1),
    hot_us_10k: rounded(median(us('10k')), 1),
    requests_others_share: rounded(
      median(rounds.flatMap((round) => NAMES.map((name) => round[name].othersShare))),
      3,
    ),
  };
}

function cpuUs(slice: LoadSlice): number {
  if (slice.requests === 0) throw new Error('a slice passed without requests');
  return (slice.cpuMs * 1_000) / slice.requests;
}
