import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { buildPackage } from './checkouts/build-package.ts';
import { say, sliceOptions, slicesOf } from './command-line.ts';
import { type Gateway, LANE, ROOT, startEach, startUpstream } from './gateways/gateway.ts';
import { startRelay } from './gateways/relay.ts';
import { packageEntry } from './gateways/role.ts';
import { requestBytes } from './load/client-connection.ts';
import { type LoadSlice, loadSlice } from './load/load-slice.ts';
import { pinToLoadCore } from './pinned-process.ts';
import { smallBody } from './request-bodies.ts';
import { type Round, runRounds } from './rounds.ts';
import { median, ratiosOf, rounded, type Spread, spread } from './statistics.ts';

export const TELEMETRY_USAGE = `telemetry: CPU cost of scraped metrics and of tracing 1% of requests, compared with neither
  --slices N       rounds (20)
  --slice-ms N     length of a slice (1000)
  --no-build       measure the package in dist without building it first
  --short          a smoke run of a few seconds: 3 slices of 300 ms; its results are not meaningful`;

const CONNECTIONS = 64;
const WARM_UP_SLICES = 4;
const SCRAPE_EVERY_MS = 1_000;
const NAMES = ['off', 'on', 'all'] as const;
type Name = (typeof NAMES)[number];
/** Shares of requests that are traced. */
const SAMPLED: Readonly<Record<Name, string | null>> = { off: null, on: '0.01', all: '1' };

export interface TelemetryFigures {
  /** CPU a request with metrics scraped every second and 1 % of the requests traced, to neither. */
  readonly telemetry_ratio: number;
  readonly telemetry_ratio_spread: Spread;
  /** The same with every request traced. */
  readonly traced_ratio: number;
  readonly traced_ratio_spread: Spread;
  readonly off_us: number;
  readonly on_us: number;
  readonly all_us: number;
  readonly exports: number;
}

export async function telemetry(args: readonly string[]): Promise<TelemetryFigures> {
  const options = { ...sliceOptions, 'no-build': { type: 'boolean', default: false } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const { slices, sliceMs } = slicesOf(values, { sliceMs: 1_000, shortSliceMs: 300 });
  pinToLoadCore();
  if (!values['no-build']) await buildPackage(ROOT);
  const started: { stop(): Promise<void> }[] = [];
  try {
    const [upstream, receiver] = await Promise.all([startUpstream(), startReceiver()]);
    started.push(upstream, receiver);
    const gateways = await startEach(NAMES, started, (name) => {
      const ratio = SAMPLED[name];
      const settings =
        ratio === null ? {} : { RELAY_TRACES_URL: receiver.url, RELAY_TRACES_SAMPLE_RATIO: ratio };
      return startRelay(upstream.url, { entry: packageEntry(ROOT), settings });
    });
    const rounds = await measureRounds(gateways, slices, sliceMs);
    return { ...figuresOf(rounds), exports: receiver.exports() };
  } finally {
    await Promise.all(started.reverse().map((each) => each.stop()));
  }
}

async function measureRounds(
  gateways: Readonly<Record<Name, Gateway>>,
  slices: number,
  sliceMs: number,
): Promise<readonly Round<Name, LoadSlice>[]> {
  const measure = async (name: Name) => {
    const { port, pid, headers } = gateways[name];
    const request = requestBytes(port, headers, smallBody(LANE));
    const scrape = name === 'off' ? async () => undefined : startScraping(port);
    const slice = await loadSlice({
      port,
      pid,
      nextRequest: () => request,
      connections: CONNECTIONS,
      sliceMs,
      streaming: false,
    });
    await scrape();
    say(`  ${name.padEnd(5)}${slice.requests} requests, ${rounded(cpuUs(slice), 1)} µs each`);
    return slice;
  };
  return runRounds(NAMES, slices, measure, WARM_UP_SLICES);
}

/** Reads the metrics now and in every second until the returned function is called. */
function startScraping(port: number): () => Promise<void> {
  let last = scrapeOnce(port);
  const timer = setInterval(() => {
    last = scrapeOnce(port);
  }, SCRAPE_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await last;
  };
}

async function scrapeOnce(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  if (response.status !== 200 || !text.includes('relay_overhead_seconds'))
    throw new Error(`the metrics page returned ${response.status}`);
}

async function startReceiver(): Promise<{ url: string; exports(): number; stop(): Promise<void> }> {
  let exports = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      exports += 1;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exports: () => exports,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function cpuUs({ cpuMs, requests }: LoadSlice): number {
  if (requests === 0) throw new Error('a slice passed without requests');
  return (cpuMs * 1_000) / requests;
}

function figuresOf(rounds: readonly Round<Name, LoadSlice>[]): Omit<TelemetryFigures, 'exports'> {
  const us = (name: Name) => rounds.map((round) => cpuUs(round[name]));
  const [on, all] = [ratiosOf(us('on'), us('off')), ratiosOf(us('all'), us('off'))];
  return {
    telemetry_ratio: rounded(median(on), 3),
    telemetry_ratio_spread: spread(on, 3),
    traced_ratio: rounded(median(all), 3),
    traced_ratio_spread: spread(all, 3),
    off_us: rounded(median(us('off')), 1),
    on_us: rounded(median(us('on')), 1),
    all_us: rounded(median(us('all')), 1),
  };
}
