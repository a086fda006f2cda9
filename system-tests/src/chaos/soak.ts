// `npm run soak -- --minutes N [--seed N]`: mixed traffic for a long time, with a fault now and then; ends with the gateway's memory
// over time, and with the ledger compared with the provider's log. The last line is one JSON object.
import { parseArgs } from 'node:util';
import { anySeed, runCommand, UsageError, wholeNumber } from '@relay/testbed';
import { openLedgerView } from '../harness/ledger-view.ts';
import { createProbe, type Probe } from '../harness/probe-client.ts';
import { afterMs } from '../harness/until.ts';
import { compare } from './compare.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { startLoad } from './load.ts';
import { createRandom, type Random } from './random.ts';
import { untilOver } from './settle.ts';
import { makeWorld } from './world.ts';

const USAGE = `usage: npm run soak -- [--minutes N] [--seed N]

Long-running mixed traffic on 2 gateways, with a fault every 20 s; then reports one gateway's memory over time, and the
ledger compared with the provider's log.
  --minutes N  how long (120)
  --seed N     repeat the choices of an earlier run
`;

const SAMPLES_MAX = 240;
/** Code is compiled, pools and caches fill: memory of this part of the run says nothing. */
const WARM_UP_SHARE = 0.25;
const FAULT_EVERY_MS = 20_000;
const MIB = 1_048_576;
const HOUR_MS = 3_600_000;

interface Sample {
  readonly atMs: number;
  readonly rssMb: number;
  /** After a collection: the heap and the buffers that it holds. */
  readonly heldMb: number;
}

/** Endpoints that fail are a part of the load. Never the gateway that is measured: a new process would have a memory of its own. */
const FAULTS: Readonly<Record<string, (fleet: Fleet, random: Random) => Promise<void>>> = {
  'a worker is killed': (fleet, random) => fleet.kill(random.pick(fleet.workers), 500),
  'the other gateway is killed': async (fleet) => {
    const other = fleet.gateways[1];
    if (other?.process != null) await fleet.kill(other, 500);
  },
  'Redis is stopped for a second': async ({ redis }) => {
    redis.pause();
    await afterMs(1_000);
    redis.resume();
  },
};

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '120' },
      seed: { type: 'string', default: anySeed() },
    },
  });
  const [minutes, seed] = [Number(values.minutes), wholeNumber('--seed', values.seed)];
  if (!(minutes > 0)) throw new UsageError('--minutes must be a positive number');
  process.setMaxListeners(1_000);
  const probe = createProbe();
  const fleet = await startFleet({ gateways: 2, probed: probe });
  try {
    return await soak(fleet, probe, minutes, seed);
  } finally {
    await fleet.stop();
    probe.remove();
  }
}

async function soak(fleet: Fleet, probe: Probe, minutes: number, seed: number): Promise<number> {
  const world = await makeWorld(fleet);
  const load = startLoad(fleet, world, seed);
  const totalMs = minutes * 60_000;
  const random = createRandom(seed);
  const startMs = performance.now();
  const samples: Sample[] = [];
  let faults = 0;
  process.stdout.write(`soak of ${minutes} minutes, seed ${seed}\n`);
  const everyMs = Math.max(2_000, totalMs / SAMPLES_MAX);
  for (let nextFaultMs = FAULT_EVERY_MS; performance.now() - startMs < totalMs; ) {
    await afterMs(everyMs);
    samples.push(await sample(probe, performance.now() - startMs));
    if (performance.now() - startMs < nextFaultMs) continue;
    nextFaultMs += FAULT_EVERY_MS;
    const name = random.pick(Object.keys(FAULTS));
    await fleet.whole();
    await FAULTS[name]?.(fleet, random);
    faults += 1;
    process.stdout.write(`${describe(samples.at(-1))}  ${name}\n`);
  }
  await fleet.whole();
  await load.stop();
  await untilOver(fleet);
  const ledger = openLedgerView(fleet.postgres.url);
  const held = { rows: await ledger.rows(), attempts: await ledger.attempts() };
  await ledger.close();
  const { lost, duplicated, sumDifference } = compare(await fleet.provider.entries(), held);
  const warm = samples.filter(({ atMs }) => atMs > totalMs * WARM_UP_SHARE);
  const figures = {
    minutes,
    rss_slope_mb_h: slopePerHour(warm, ({ rssMb }) => rssMb),
    held_slope_mb_h: slopePerHour(warm, ({ heldMb }) => heldMb),
    rss_mb: Math.round(samples.at(-1)?.rssMb ?? 0),
    requests: load.sent().length,
    faults,
    lost: lost.length,
    duplicated: duplicated.length,
    sum_difference: sumDifference,
    seed,
  };
  const failed = lost.length + duplicated.length + sumDifference;
  process.stdout.write(`${failed === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed'}\n`);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  return failed === 0 ? 0 : 1;
}

async function sample(probe: Probe, atMs: number): Promise<Sample> {
  const { rssBytes, heapBytes, externalBytes } = await probe.collect();
  return { atMs, rssMb: rssBytes / MIB, heldMb: (heapBytes + externalBytes) / MIB };
}

/** The line through the samples that has the least squares. */
function slopePerHour(samples: readonly Sample[], amountOf: (sample: Sample) => number): number | null {
  if (samples.length < 3) return null;
  const mean = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const times = samples.map(({ atMs }) => atMs / HOUR_MS);
  const amounts = samples.map(amountOf);
  const [meanTime, meanAmount] = [mean(times), mean(amounts)];
  const over = times.reduce(
    (sum, time, index) => sum + (time - meanTime) * ((amounts[index] ?? 0) - meanAmount),
    0,
  );
  const under = times.reduce((sum, time) => sum + (time - meanTime) ** 2, 0);
  return Number((over / under).toFixed(2));
}

function describe(found: Sample | undefined): string {
  if (found === undefined) return '';
  const { atMs, rssMb, heldMb } = found;
  return `${(atMs / 60_000).toFixed(1)} min  ${rssMb.toFixed(0)} MB, ${heldMb.toFixed(1)} MB held`;
}

await runCommand(USAGE, main);
