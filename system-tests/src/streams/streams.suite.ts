import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { RequestLogEntry } from '@relay/provider-sim';
import { type SchedulerWatch, watchScheduler } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { createProbe, type Probe } from '../harness/probe-client.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { readRequestLog } from '../harness/request-log.ts';
import type { ProbeReading } from '../harness/server-probe.ts';
import { stores } from '../harness/stores.ts';
import { afterMs } from '../harness/until.ts';
import type { ClientSetup, WholeResult } from './client-jobs.ts';
import { pin, twoCores } from './cores.ts';
import { type EndlessUpstream, startEndlessUpstream } from './endless-upstream.ts';
import { startClients } from './start-clients.ts';

// Many streams through one process: no frame is lost, no memory kept, no client delayed. The server has its own core;
// the provider, the clients and the stores share the other one. RELAY_SYSTEM_LONG=1 runs the full durations.

/** There the database works in the same process, beside other suites: fewer streams, and times that only tell promptly from never. */
const EMBEDDED = stores === 'embedded';
const STREAMS = EMBEDDED ? 200 : IS_LONG ? 1_000 : 300;
const FRAMES = EMBEDDED ? 60 : 200;
const FRAME_DELAY_MS = 60;
/** The times as they are asked for need a machine of one's own; the short form, for CI, only tells promptly from late. */
const LOOP_DELAY_P99_MS_MAX = EMBEDDED ? 1_000 : IS_LONG ? 50 : 150;
/** Memory that the streams may leave after garbage collection; leaking one small object per frame exceeds it. */
const HEAP_GROWTH_BYTES_MAX = (IS_LONG ? 6 : 3) * 1024 * 1024;
const RSS_GROWTH_BYTES_MAX = 64 * 1024 * 1024;
const SLOW_STREAMS = EMBEDDED ? 120 : 200;
const BYTES_PER_SLOW_STREAM_MAX = 256 * 1024;
const FAST_MS = 3_000;
const HELD_BACK_SECONDS_MAX = 40;
const ABORTED = EMBEDDED ? 100 : IS_LONG ? 500 : 200;
const ABORT_MS_MAX = EMBEDDED ? 2_000 : IS_LONG ? 50 : 500;
/** Only tells what never ends from what ends late. The bounds above say how soon. */
const OVER_MS_MAX = 60_000;
const seed = randomInt(1_000);
/** Large blocks go back to the system as soon as they are free, so that what is held can be told from what the allocator keeps. */
const RETURNS_MEMORY = { MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TRIM_THRESHOLD_: '131072' };

const probe = createProbe();
const slowProbe = EMBEDDED ? probe : createProbe();
let slowServer: RelayProcess | undefined;
let deployment: Deployment;
let providers: ProviderProcess[] = [];
let endless: EndlessUpstream;
let baseline: ProbeReading;
/** Of the streams that are read to their end. */
let wholeWatch: SchedulerWatch;
let slowClients: { kill(): void } | null = null;
const figures: Record<string, unknown> = {
  streams: 0,
  lost: 0,
  loop_delay_p99_ms: null,
  bytes_per_slow_stream: null,
};

function setupOf(model: string): ClientSetup {
  return { url: deployment.url, token: deployment.apiToken, model };
}

before(async () => {
  const cores = EMBEDDED ? null : twoCores();
  // Everything that is started from here on inherits the core; then the server gets the other one.
  if (cores !== null) pin(process.pid, cores.rest);
  [deployment, endless, ...providers] = await Promise.all([
    startDeployment({
      nodeFlags: probe.nodeFlags,
      env: { ...probe.env, ...(EMBEDDED ? RETURNS_MEMORY : {}) },
    }),
    startEndlessUpstream(),
    startProviderProcess(),
    startProviderProcess(),
  ]);
  const env = { ...slowProbe.env, ...RETURNS_MEMORY };
  slowServer = EMBEDDED
    ? deployment.processes[0]
    : await deployment.startProcess({ nodeFlags: slowProbe.nodeFlags, env });
  if (cores !== null) for (const { pid } of deployment.processes) pin(pid, cores.server);
  const upstreams = { whole: provider(0).baseUrl, slow: endless.baseUrl, abort: provider(1).baseUrl };
  for (const [name, baseUrl] of Object.entries(upstreams)) {
    await createLane(deployment.admin, { name, endpoints: [{ baseUrl, upstreamModel: 'sim-chat' }] });
  }
});
after(async () => {
  // Should a test have failed before they were told to stop, the server would wait for them.
  slowClients?.kill();
  await deployment.stop();
  await Promise.all([endless.close(), ...providers.map((each) => each.stop())]);
  probe.remove();
  slowProbe.remove();
  reportFigures(figures);
});

describe(`${STREAMS} streams concurrently`, () => {
  before(async () => {
    // Warms up the compiler and the connection pools before measuring.
    const job = { kind: 'whole', ...setupOf('whole'), streams: STREAMS, startGapMs: 1 } as const;
    const { problems } = await startClients({ ...job, frames: 60, frameDelayMs: 50 }).result;
    assert.deepEqual(problems, []);
    baseline = await settled(probe);
  });

  it('lose, reorder and change no frame', async () => {
    wholeWatch = watchScheduler(deployment.processes);
    const { streams, lost, problems, atOnce } = await runAll();
    figures['streams'] = streams;
    figures['lost'] = lost;
    figures['at_once'] = atOnce;
    assert.deepEqual(problems, []);
    assert.equal(streams, STREAMS);
    assert.equal(lost, 0);
    wholeWatch.inTime(atOnce === STREAMS, `${atOnce} streams were open at once`);
  });

  it('hardly hold up the event loop', () => {
    wholeWatch.within(
      LOOP_DELAY_P99_MS_MAX,
      Number(figures['loop_delay_p99_ms']),
      'p99 of a turn of the loop',
    );
    wholeWatch[Symbol.dispose]();
  });

  it('leave the memory at its level', async () => {
    const level = await settled(probe);
    const heapBytes = level.heapBytes + level.externalBytes - baseline.heapBytes - baseline.externalBytes;
    const rssBytes = level.rssBytes - baseline.rssBytes;
    figures['heap_growth_bytes'] = heapBytes;
    figures['rss_before_bytes'] = baseline.rssBytes;
    figures['rss_growth_bytes'] = rssBytes;
    assert.ok(heapBytes < HEAP_GROWTH_BYTES_MAX, `the heap holds ${heapBytes} bytes more than before`);
    assert.ok(rssBytes < RSS_GROWTH_BYTES_MAX, `the process holds ${rssBytes} bytes more than before`);
  });
});

describe(`${SLOW_STREAMS} clients that read 1 KiB/s`, () => {
  let hungUpMs: Readonly<Record<string, number>>;
  let watch: SchedulerWatch;

  before(async () => {
    // As much passes through at full speed as will later fill the buffers, so that what reading fast leaves
    // to the allocator is not taken for what slow readers hold.
    const clients = startClients({ ...job(), tagPrefix: 'f', bytesPerSecond: null });
    const sentBytes = () => endless.streams.reduce((sum, stream) => sum + stream.bytesSent, 0);
    do await afterMs(FAST_MS);
    while (sentBytes() < SLOW_STREAMS * BYTES_PER_SLOW_STREAM_MAX);
    clients.stop();
    const { receivedBytes } = await clients.result;
    assert.ok(receivedBytes > 0);
    await untilZero(() => endless.openConnections());
    endless.streams.length = 0;
  });

  function job() {
    return { kind: 'slow', ...setupOf('slow'), url: slowServer?.url ?? '', streams: SLOW_STREAMS } as const;
  }

  it('cost less than 256 KiB each, and the provider is held back', async () => {
    const before = await settled(slowProbe);
    const clients = startClients({ ...job(), tagPrefix: 'w', bytesPerSecond: 1_024 });
    slowClients = clients;
    const sentBytes = await untilHeldBack();
    const held = await settled(slowProbe);
    const rss = held.rssBytes - before.rssBytes;
    const live = held.heapBytes + held.externalBytes - before.heapBytes - before.externalBytes;
    // By what is live: the allocator keeps some of what was freed, and how much depends on the machine.
    const perStream = Math.round(live / SLOW_STREAMS);
    figures['bytes_per_slow_stream'] = perStream;
    figures['rss_bytes_per_slow_stream'] = Math.round(rss / SLOW_STREAMS);
    figures['upstream_bytes_per_slow_stream'] = Math.round(sentBytes / SLOW_STREAMS);
    watch = watchScheduler(slowServer === undefined ? [] : [slowServer]);
    clients.stop();
    const result = await clients.result;
    hungUpMs = result.abortedAtMs;
    assert.deepEqual(result.problems, []);
    assert.ok(perStream < BYTES_PER_SLOW_STREAM_MAX, `${perStream} bytes a stream`);
  });

  it('free the provider at once when they vanish while it is held back', async () => {
    await untilZero(() => endless.openConnections());
    const { p99Ms, maxMs } = delaysOf(
      endless.streams.map(({ tag, closedAtMs }) => (closedAtMs ?? Number.NaN) - (hungUpMs[tag] ?? 0)),
    );
    figures['held_abort_p99_ms'] = p99Ms;
    figures['held_abort_max_ms'] = maxMs;
    assert.equal(endless.streams.length, SLOW_STREAMS);
    watch.within(ABORT_MS_MAX, p99Ms, `p99, at most ${maxMs} ms`);
    watch[Symbol.dispose]();
  });

  it('settle as cancelled', () => allCancelled('w', SLOW_STREAMS));
});

describe(`${ABORTED} clients that hang up`, () => {
  let abortedStreams = 0;
  let afterFirst: ProbeReading;

  async function hangUp(streams: number, tagPrefix: string): Promise<Readonly<Record<string, number>>> {
    const pace = { frames: 300, frameDelayMs: 150, startGapMs: 4 };
    const job = { kind: 'abort', ...setupOf('abort'), streams, ...pace, seed } as const;
    const { abortedAtMs, problems } = await startClients({ ...job, tagPrefix }).result;
    abortedStreams += Object.keys(abortedAtMs).length;
    assert.deepEqual(problems, []);
    return abortedAtMs;
  }

  before(async () => {
    // The first error of a process loads the source maps of a built package, which stay.
    await hangUp(20, 'a0-');
    await untilAllOver(provider(1), abortedStreams);
    afterFirst = await settled(probe);
  });

  it('stop their upstream at once', async () => {
    using watch = watchScheduler([...deployment.processes, provider(1)]);
    const abortedAtMs = await hangUp(ABORTED, 'a1-');
    const entries = await untilAllOver(provider(1), abortedStreams);
    const { p99Ms, maxMs } = abortDelays(entries.slice(-ABORTED), abortedAtMs);
    figures['aborted'] = abortedStreams;
    figures['abort_p99_ms'] = p99Ms;
    figures['abort_max_ms'] = maxMs;
    watch.within(ABORT_MS_MAX, p99Ms, `p99, at most ${maxMs} ms`);
  });

  it('leave no upstream connection open', async () => {
    assert.equal(await provider(1).openStreams(), 0);
    await untilZero(() => provider(1).openConnections());
  });

  it('settle as cancelled', () => allCancelled('a', abortedStreams));

  it('leave the memory at its level', async () => {
    const level = await settled(probe);
    const heapBytes = level.heapBytes + level.externalBytes - afterFirst.heapBytes - afterFirst.externalBytes;
    assert.ok(heapBytes < HEAP_GROWTH_BYTES_MAX, `the heap holds ${heapBytes} bytes more than before`);
  });
});

/** All streams read to their end; notes how the event loop fared. */
async function runAll(): Promise<WholeResult & { atOnce: number }> {
  const { cpuMs } = await probe.reset();
  const job = { kind: 'whole', ...setupOf('whole'), streams: STREAMS, startGapMs: 1 } as const;
  const clients = startClients({ ...job, frames: FRAMES, frameDelayMs: FRAME_DELAY_MS });
  let atOnce = 0;
  const watch = setInterval(() => {
    void provider(0)
      .openStreams()
      .then((open) => (atOnce = Math.max(atOnce, open)));
  }, 1_000);
  const result = await clients.result;
  clearInterval(watch);
  const reading = await probe.read();
  figures['loop_delay_p99_ms'] = round(reading.loopDelayP99Ms);
  figures['loop_delay_max_ms'] = round(reading.loopDelayMaxMs);
  figures['cpu_us_per_frame'] = round(((reading.cpuMs - cpuMs) * 1_000) / (STREAMS * FRAMES));
  return { ...result, atOnce };
}

function provider(index: number): ProviderProcess {
  const found = providers[index];
  assert.ok(found);
  return found;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Memory after collection, once it no longer falls. */
async function settled(probe: Probe): Promise<ProbeReading> {
  let last = await probe.collect();
  for (let turn = 0; turn < 20; turn += 1) {
    await afterMs(250);
    const next = await probe.collect();
    const fell = last.heapBytes + last.externalBytes - next.heapBytes - next.externalBytes;
    last = next;
    if (fell < 64 * 1024) return last;
  }
  return last;
}

/**
 * Waits until nearly every stream has stood still for seconds: what the provider has sent by then fills the
 * system's own buffers. Answers how much that is.
 */
async function untilHeldBack(): Promise<number> {
  let still = 0;
  for (let turn = 0; turn < HELD_BACK_SECONDS_MAX; turn += 1) {
    const before = endless.streams.map(({ bytesSent }) => bytesSent);
    await afterMs(1_000);
    const held = before.filter((bytes, index) => endless.streams[index]?.bytesSent === bytes).length;
    still = held > SLOW_STREAMS * 0.95 ? still + 1 : 0;
    if (still === 3) return endless.streams.reduce((sum, { bytesSent }) => sum + bytesSent, 0);
  }
  throw new Error('the provider is not held back: its streams go on');
}

async function untilAllOver(from: ProviderProcess, count: number): Promise<RequestLogEntry[]> {
  const deadlineMs = Date.now() + OVER_MS_MAX;
  for (;;) {
    const entries = await from.log();
    const over = entries.filter(({ outcome }) => outcome !== 'pending');
    if (over.length === count) return over;
    assert.ok(Date.now() < deadlineMs, `${over.length} of ${count} streams are over at the provider`);
    await afterMs(100);
  }
}

/** From the moment a client hung up to the moment the provider saw its connection close. */
function abortDelays(
  entries: readonly RequestLogEntry[],
  hungUpMs: Readonly<Record<string, number>>,
): { p99Ms: number; maxMs: number } {
  return delaysOf(
    entries.map(({ fault, abortedAtMs, outcome }) => {
      assert.equal(outcome, 'aborted_by_client', `the stream ${fault?.tag} ended as ${outcome}`);
      return (abortedAtMs ?? Number.NaN) - (hungUpMs[fault?.tag ?? ''] ?? 0);
    }),
  );
}

function delaysOf(delaysMs: readonly number[]): { p99Ms: number; maxMs: number } {
  const sorted = [...delaysMs].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN;
  return { p99Ms: at(0.99), maxMs: at(1) };
}

async function untilZero(read: () => number): Promise<void> {
  const deadlineMs = Date.now() + OVER_MS_MAX;
  for (let left = read(); left > 0; left = read()) {
    assert.ok(Date.now() < deadlineMs, `${left} connections to the provider are still open`);
    await afterMs(50);
  }
}

/** Every stream has one ledger row, and it says cancelled. */
async function allCancelled(prefix: string, count: number): Promise<void> {
  const deadlineMs = Date.now() + OVER_MS_MAX;
  for (;;) {
    const found = (await readRequestLog(deployment.admin)).filter(({ client_request_id }) =>
      client_request_id?.startsWith(prefix),
    );
    if (found.length === count) {
      assert.deepEqual([...new Set(found.map(({ state }) => state))], ['cancelled']);
      return;
    }
    assert.ok(Date.now() < deadlineMs, `the ledger has ${found.length} of ${count} rows`);
    await afterMs(200);
  }
}
