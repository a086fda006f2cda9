import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@relay/testbed';
import { readSlices } from './command-line.ts';
import { LANE, startUpstream } from './gateways/gateway.ts';
import { startRelay } from './gateways/relay.ts';
import { type AdmissionCalls, createAdmissionCalls } from './limits/admission-calls.ts';
import { type CommandTotals, openCounters, type RedisCounters } from './limits/redis-counters.ts';
import { requestBytes } from './load/client-connection.ts';
import { loadSlice } from './load/load-slice.ts';
import { GATEWAY_CORE, pinToLoadCore } from './pinned-process.ts';
import { smallBody } from './request-bodies.ts';
import { median, rounded, type Spread, spread } from './statistics.ts';

export const ADMISSION_USAGE = `admission: what limits cost in Redis, with 2 candidates of 6 policies each
  --slices N       slices of each part (20)
  --slice-ms N     length of a slice (1000)
  --short          a smoke run of seconds; its figures mean little`;

const CANDIDATES = 2;
/** Requests in flight: enough to keep Redis busy. */
const IN_FLIGHT = 64;
/** Longer than the longest sliding window, so that every bucket of it holds something, as in service. */
const FILL_MS = 62_000;
const FILL_GAP_MS = 100;

interface Settings {
  readonly slices: number;
  readonly sliceMs: number;
  readonly fillMs: number;
}

type Figures = Record<string, number | Spread>;

/** Script time and rate of the calls alone, then the number of calls that the product makes for a request. */
export async function admission(args: readonly string[]): Promise<Figures> {
  const slices = readSlices(args, { sliceMs: 1_000, shortSliceMs: 250 });
  const settings = { ...slices, fillMs: slices.short ? 0 : FILL_MS };
  pinToLoadCore();
  return { ...(await measureScripts(settings)), ...(await measureRoundTrips(settings)) };
}

async function measureScripts(settings: Settings): Promise<Figures> {
  const redis = await startRedis();
  try {
    const counters = await openCounters(redis.url);
    const calls = await createAdmissionCalls(redis.url, CANDIDATES);
    try {
      pinToGatewayCore((await counters.read()).processId);
      await fillWindows(calls, settings.fillMs);
      await callsSlice(calls, counters, settings.sliceMs);
      const waves = await measureWaves(calls, counters, settings.slices);
      const slices: CallsSlice[] = [];
      for (let index = 0; index < settings.slices; index += 1)
        slices.push(await callsSlice(calls, counters, settings.sliceMs));
      const scriptUs = slices.map((slice) => slice.scriptUs);
      const perSecond = slices.map((slice) => slice.admissionsPerSecond);
      return {
        script_us_median: rounded(median(scriptUs), 1),
        script_us_spread: spread(scriptUs, 1),
        ...waves,
        admissions_per_s: rounded(median(perSecond), 0),
        admissions_per_s_spread: spread(perSecond, 0),
        redis_core_share: rounded(median(slices.map((slice) => slice.redisShare)), 3),
      };
    } finally {
      calls.close();
      counters.close();
    }
  } finally {
    await redis.remove();
  }
}

/** Full windows cost more to read than empty ones, so the first minute would look too fast. */
async function fillWindows(calls: AdmissionCalls, fillMs: number): Promise<void> {
  const endMs = performance.now() + fillMs;
  while (performance.now() < endMs) {
    const operation = randomUUID();
    await calls.admit(operation);
    await calls.settle(operation);
    await sleep(FILL_GAP_MS);
  }
}

/** Redis counts all scripts as one command, so those that admit and those that settle take turns here. */
async function measureWaves(calls: AdmissionCalls, counters: RedisCounters, waves: number): Promise<Figures> {
  const admitUs: number[] = [];
  const settleUs: number[] = [];
  for (let wave = 0; wave < waves; wave += 1) {
    const operations = Array.from({ length: IN_FLIGHT * 4 }, () => randomUUID());
    const before = await counters.read();
    await Promise.all(operations.map((operation) => calls.admit(operation)));
    const between = await counters.read();
    await Promise.all(operations.map((operation) => calls.settle(operation)));
    const after = await counters.read();
    admitUs.push((between.scripts.us - before.scripts.us) / operations.length);
    settleUs.push((after.scripts.us - between.scripts.us) / operations.length);
  }
  return {
    admit_us_median: rounded(median(admitUs), 1),
    settle_us_median: rounded(median(settleUs), 1),
  };
}

interface CallsSlice {
  /** Of both scripts together. */
  readonly scriptUs: number;
  readonly admissionsPerSecond: number;
  /** Share of Redis's own core; below one, the client was slower than Redis. */
  readonly redisShare: number;
}

/** Admits and settles as fast as Redis allows, for one slice. */
async function callsSlice(
  calls: AdmissionCalls,
  counters: RedisCounters,
  sliceMs: number,
): Promise<CallsSlice> {
  const before = await counters.read();
  const startMs = performance.now();
  const endMs = startMs + sliceMs;
  let admissions = 0;
  const one = async () => {
    while (performance.now() < endMs) {
      const operation = randomUUID();
      await calls.admit(operation);
      await calls.settle(operation);
      admissions += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  const elapsedMs = performance.now() - startMs;
  const after = await counters.read();
  return {
    scriptUs: (after.scripts.us - before.scripts.us) / admissions,
    admissionsPerSecond: (admissions * 1_000) / elapsedMs,
    redisShare: (after.cpuMs - before.cpuMs) / elapsedMs,
  };
}

/** Counts the script calls of a request that does not wait. */
async function measureRoundTrips({ sliceMs }: Settings): Promise<Figures> {
  const upstream = await startUpstream();
  try {
    const gateway = await startRelay(upstream.url, { setup: { candidates: CANDIDATES, limited: true } });
    try {
      const { port, pid, headers } = gateway;
      const request = requestBytes(port, headers, smallBody(LANE));
      const counters = await openCounters(gateway.redisUrl);
      try {
        await loadSlice({ port, pid, request, connections: 1, sliceMs, streaming: false });
        const before: CommandTotals = (await counters.read()).scripts;
        const slice = await loadSlice({ port, pid, request, connections: 8, sliceMs, streaming: false });
        const after: CommandTotals = (await counters.read()).scripts;
        return { round_trips: rounded((after.calls - before.calls) / slice.answered, 2) };
      } finally {
        counters.close();
      }
    } finally {
      await gateway.stop();
    }
  } finally {
    await upstream.stop();
  }
}

function pinToGatewayCore(pid: number): void {
  execFileSync('taskset', ['-a', '-p', '-c', String(GATEWAY_CORE), String(pid)], { stdio: 'ignore' });
}
