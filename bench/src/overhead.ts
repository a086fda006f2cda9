import { parseArgs } from 'node:util';
import { type Gateway, LANE, startBareWithCalls, startEngine, startUpstream } from './gateways/gateway.ts';
import { findPortkey, startPortkey } from './gateways/portkey.ts';
import { startRelay } from './gateways/relay.ts';
import { requestBytes } from './load/client-connection.ts';
import { latencySlice } from './load/latency-slice.ts';
import { type LoadSlice, loadSlice } from './load/load-slice.ts';
import { pinToLoadCore } from './pinned-process.ts';
import { positive } from './positive.ts';
import { bigBody, smallBody, streamBody } from './request-bodies.ts';
import { type Round, runRounds } from './rounds.ts';
import { median, rounded, type Spread, spread } from './statistics.ts';

const PARTS = ['requests', 'policies', 'streams', 'latency', 'big-body'] as const;
type Part = (typeof PARTS)[number];

export const OVERHEAD_USAGE = `overhead: CPU and latency of the gateway beside the bare engine and Portkey's gateway
  --slices N       rounds of each part (20)
  --slice-ms N     length of a slice (1000)
  --short          a smoke run of seconds: 3 slices of 250 ms; its figures mean little
  --only PART      ${PARTS.join(', ')}; may be repeated
  --portkey DIR    where npm installed @portkey-ai/gateway, when it cannot be resolved from here
  --profile DIR    writes CPU profiles of the gateways there (which slows them down)`;

const CONNECTIONS = 64;
const BIG_CONNECTIONS = 8;
const WARM_UP_CPU_MS = 5_000;
const WARM_UP_SLICE_MS = 500;
const WARM_UP_SLICES_MAX = 30;

interface Settings {
  readonly slices: number;
  readonly sliceMs: number;
  readonly warmUpCpuMs: number;
  readonly parts: readonly Part[];
  readonly portkeyDirectory: string | undefined;
  readonly nodeFlags: readonly string[];
}

type Name = 'bare' | 'relay' | 'portkey' | 'reserialise' | 'bare+calls' | 'relay+policies';
type Gateways = Readonly<Partial<Record<Name, Gateway>>>;
type Figures = Record<string, number | Spread | null>;

function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      slices: { type: 'string' },
      'slice-ms': { type: 'string' },
      short: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [...PARTS] },
      portkey: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const parts = PARTS.filter((part) => values.only.includes(part));
  if (parts.length !== new Set(values.only).size) throw new Error(`--only takes ${PARTS.join(', ')}`);
  const flags =
    values.profile === undefined
      ? []
      : ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${values.profile}`];
  return {
    slices: positive('--slices', values.slices ?? (values.short ? '3' : '20')),
    sliceMs: positive('--slice-ms', values['slice-ms'] ?? (values.short ? '250' : '1000')),
    warmUpCpuMs: values.short ? 400 : WARM_UP_CPU_MS,
    parts,
    portkeyDirectory: values.portkey,
    nodeFlags: flags,
  };
}

/** Starts everything, measures part by part, and stops everything however it ends. */
export async function overhead(args: readonly string[]): Promise<Figures> {
  const settings = readSettings(args);
  const portkeyEntry = settings.parts.includes('requests') ? findPortkey(settings.portkeyDirectory) : null;
  pinToLoadCore();
  const started: { stop(): Promise<void> }[] = [];
  const keep = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const one = await starting;
    started.push(one);
    return one;
  };
  try {
    const upstream = await keep(startUpstream());
    const gateways: Partial<Record<Name, Gateway>> = {};
    gateways.bare = await keep(startEngine('bare', upstream.url, settings.nodeFlags));
    gateways.relay = await keep(startRelay(upstream.url, settings.nodeFlags));
    if (settings.parts.includes('policies')) {
      gateways['bare+calls'] = await keep(startBareWithCalls(upstream.url, settings.nodeFlags));
      const limited = { candidates: 1, limited: true };
      gateways['relay+policies'] = await keep(startRelay(upstream.url, settings.nodeFlags, limited));
    }
    if (settings.parts.includes('big-body'))
      gateways.reserialise = await keep(startEngine('reserialise', upstream.url, settings.nodeFlags));
    if (portkeyEntry !== null) gateways.portkey = await keep(startPortkey(portkeyEntry, upstream.url));
    const figures: Figures = {
      bare_us: null,
      relay_us: null,
      cpu_ratio_bare: null,
      cpu_ratio_portkey: null,
      policies_ratio_bare_with_calls: null,
      stream_ratio_bare: null,
      added_p50_ms: null,
      big_body_ratio: null,
    };
    for (const part of settings.parts) {
      note(`${part}: ${settings.slices} rounds of ${settings.sliceMs} ms`);
      Object.assign(figures, await measurePart[part](gateways, settings));
    }
    return figures;
  } finally {
    await Promise.all(started.reverse().map((each) => each.stop()));
  }
}

const measurePart: Record<Part, (gateways: Gateways, settings: Settings) => Promise<Figures>> = {
  async requests(gateways, settings) {
    const names = namesOf(gateways, ['bare', 'relay', 'portkey']);
    const rounds = await loadRounds(gateways, names, settings, smallBody(LANE), CONNECTIONS, false);
    const us = (name: Name) => rounds.map((round) => cpuUs(round[name], 'requests'));
    const withPortkey = names.includes('portkey');
    const toBare = ratios(us('relay'), us('bare'));
    const toPortkey = withPortkey ? ratios(us('relay'), us('portkey')) : null;
    return {
      bare_us: rounded(median(us('bare')), 1),
      relay_us: rounded(median(us('relay')), 1),
      portkey_us: withPortkey ? rounded(median(us('portkey')), 1) : null,
      cpu_ratio_bare: rounded(median(toBare), 3),
      cpu_ratio_portkey: toPortkey === null ? null : rounded(median(toPortkey), 3),
      bare_us_spread: spread(us('bare'), 1),
      relay_us_spread: spread(us('relay'), 1),
      portkey_us_spread: withPortkey ? spread(us('portkey'), 1) : null,
      cpu_ratio_bare_spread: spread(toBare, 3),
      cpu_ratio_portkey_spread: toPortkey === null ? null : spread(toPortkey, 3),
      requests_others_share: othersShare(rounds, names),
    };
  },

  async policies(gateways, settings) {
    const names: Name[] = ['bare+calls', 'relay+policies', 'relay'];
    const rounds = await loadRounds(gateways, names, settings, smallBody(LANE), CONNECTIONS, false);
    const us = (name: Name) => rounds.map((round) => cpuUs(round[name], 'requests'));
    const toBare = ratios(us('relay+policies'), us('bare+calls'));
    const toUnlimited = ratios(us('relay+policies'), us('relay'));
    return {
      policies_ratio_bare_with_calls: rounded(median(toBare), 3),
      policies_ratio_bare_with_calls_spread: spread(toBare, 3),
      policies_ratio_without: rounded(median(toUnlimited), 3),
      policies_us: rounded(median(us('relay+policies')), 1),
      bare_with_calls_us: rounded(median(us('bare+calls')), 1),
      policies_others_share: othersShare(rounds, names),
    };
  },

  async streams(gateways, settings) {
    const names: Name[] = ['bare', 'relay'];
    const rounds = await loadRounds(gateways, names, settings, streamBody(LANE), CONNECTIONS, true);
    const us = (name: Name) => rounds.map((round) => cpuUs(round[name], 'frames'));
    const toBare = ratios(us('relay'), us('bare'));
    return {
      stream_ratio_bare: rounded(median(toBare), 3),
      bare_frame_us: rounded(median(us('bare')), 1),
      relay_frame_us: rounded(median(us('relay')), 1),
      stream_ratio_bare_spread: spread(toBare, 3),
      streams_others_share: othersShare(rounds, names),
    };
  },

  async latency(gateways, settings) {
    const names: Name[] = ['bare', 'relay'];
    const measure = async (name: Name) => {
      const { port, headers } = gatewayOf(gateways, name);
      const request = requestBytes(port, headers, smallBody(LANE));
      return latencySlice({ port, request, sliceMs: settings.sliceMs });
    };
    for (const name of names) await measure(name);
    const rounds = await runRounds(names, settings.slices, measure);
    const addedMs = rounds.map((round) => round.relay.p50Ms - round.bare.p50Ms);
    return {
      added_p50_ms: rounded(median(addedMs), 3),
      added_p50_ms_spread: spread(addedMs, 3),
      bare_p50_ms: rounded(median(rounds.map((round) => round.bare.p50Ms)), 3),
      relay_p50_ms: rounded(median(rounds.map((round) => round.relay.p50Ms)), 3),
    };
  },

  async 'big-body'(gateways, settings) {
    const names: Name[] = ['bare', 'relay', 'reserialise'];
    const rounds = await loadRounds(gateways, names, settings, bigBody(LANE), BIG_CONNECTIONS, false);
    const us = (name: Name) => rounds.map((round) => cpuUs(round[name], 'requests'));
    const toReserialise = ratios(us('relay'), us('reserialise'));
    return {
      big_body_ratio: rounded(median(toReserialise), 3),
      big_body_ratio_spread: spread(toReserialise, 3),
      big_body_bare_us: rounded(median(us('bare')), 0),
      big_body_relay_us: rounded(median(us('relay')), 0),
      big_body_reserialise_us: rounded(median(us('reserialise')), 0),
      big_body_others_share: othersShare(rounds, names),
    };
  },
};

async function loadRounds(
  gateways: Gateways,
  names: readonly Name[],
  settings: Settings,
  body: Buffer,
  connections: number,
  streaming: boolean,
): Promise<Round<Name, LoadSlice>[]> {
  const measure = (name: Name, sliceMs: number) => {
    const { port, pid, headers } = gatewayOf(gateways, name);
    const request = requestBytes(port, headers, body);
    return loadSlice({ port, pid, request, connections, sliceMs, streaming });
  };
  for (const name of names) await warmUp(() => measure(name, WARM_UP_SLICE_MS), settings.warmUpCpuMs);
  return runRounds(names, settings.slices, async (name) => {
    const slice = await measure(name, settings.sliceMs);
    const unit = streaming ? 'frames' : 'requests';
    note(`  ${name.padEnd(16)}${slice[unit]} ${unit}, ${rounded(cpuUs(slice, unit), 1)} µs each`);
    return slice;
  });
}

/** Code is compiled while it runs: the first seconds of a process's own time say nothing about the rest. */
async function warmUp(measure: () => Promise<LoadSlice>, cpuMsMin: number): Promise<void> {
  let cpuMs = 0;
  for (let slice = 0; slice < WARM_UP_SLICES_MAX && cpuMs < cpuMsMin; slice += 1)
    cpuMs += (await measure()).cpuMs;
}

function gatewayOf(gateways: Gateways, name: Name): Gateway {
  const gateway = gateways[name];
  if (gateway === undefined) throw new Error(`${name} was not started`);
  return gateway;
}

function namesOf(gateways: Gateways, wanted: readonly Name[]): Name[] {
  return wanted.filter((name) => gateways[name] !== undefined);
}

function cpuUs(slice: LoadSlice, unit: 'requests' | 'frames'): number {
  if (slice[unit] === 0) throw new Error(`a slice passed without ${unit}`);
  return (slice.cpuMs * 1_000) / slice[unit];
}

function ratios(of: readonly number[], to: readonly number[]): number[] {
  return of.map((value, index) => value / (to[index] ?? Number.NaN));
}

/** How much of the gateways' core went to strangers, in the middle slice. */
function othersShare(rounds: readonly Round<Name, LoadSlice>[], names: readonly Name[]): number {
  return rounded(median(rounds.flatMap((round) => names.map((name) => round[name].othersShare))), 3);
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
