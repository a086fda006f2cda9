import { emptyDatabase } from '@relay/testbed';
import { adminClient } from '../harness/admin-client.ts';
import { type LedgerView, openLedgerView } from '../harness/ledger-view.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Comparison, compare, readWindows, windowDifferences } from './compare.ts';
import { type EmbeddedGateway, makeEmbeddedGateway } from './embedded-gateway.ts';
import { type Load, startLoad } from './load.ts';
import { type ManagementWrites, startManagementWrites } from './management-writes.ts';
import { type ProviderLog, startProviderLog } from './provider-log.ts';
import { createRandom, type Random } from './random.ts';
import { rollupDifferences } from './rollup-differences.ts';
import type { Check, SettleOptions, SettleResult } from './settle.ts';
import { compareWhenWritten, type FilesComparison } from './usage-lines.ts';
import { makeSmallWorld } from './world.ts';

const KILLS = { short: 5, whole: 50 };
/** How many responses it serves before a kill, and how long it starts before a kill. */
const SERVED = { min: 5, max: 80 };
const SERVED_MS_MAX = 15_000;
const STARTED_MS = { min: 50, max: 2_500 };
/** One in this many kills hits it while it starts. */
const STARTING_EVERY = 4;
const OVER_MS_MAX = 30_000;
const SERVED_PER_KILL_MIN = 5;

/** Kills `relay start` at random moments and compares its ledger with the provider's log. */
export async function embedded(options: SettleOptions): Promise<SettleResult> {
  const startMs = performance.now();
  const gateway = await makeEmbeddedGateway();
  const provider = await startProviderLog();
  try {
    await gateway.start();
    const admin = adminClient(gateway.url, gateway.adminToken);
    const world = await makeSmallWorld({ provider, admin, apiToken: gateway.apiToken });
    const load = startLoad({ gateways: [gateway.member] }, world, options.seed);
    const writes = startManagementWrites(gateway.url, gateway.adminToken);
    const done = () => ({ served: served(load), made: writes.made().length });
    await killAll({ gateway, done, random: createRandom(options.seed) }, options);
    await Promise.all([load.stop(), writes.stop()]);
    options.say(
      `${gateway.counts().kills} killed, ${load.sent().length} requests sent; waiting until all is over`,
    );
    await until(() => gateway.spooled().length === 0, OVER_MS_MAX, 250);
    const before = await readWindows(admin);
    await gateway.stop();
    await gateway.start();
    const usage = await readWindows(admin);
    const exitCode = await gateway.stop();
    const left = gateway.spooled();
    const found = await audit(gateway, provider, options);
    const result = judge({
      ...found,
      gateway,
      load,
      writes,
      exitCode,
      left,
      short: options.short,
      windows: windowDifferences(before, world.windows, found.attempts),
      restarted: windowDifferences(usage, world.windows, found.attempts),
    });
    if (result.checks.some(({ wrong }) => wrong.length > 0))
      for (const line of gateway.warnings().slice(-30)) options.say(`  ${line}`);
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    return { checks: result.checks, figures: { ...result.figures, seconds, seed: options.seed } };
  } finally {
    await gateway.stop();
    await provider.stop();
    gateway.remove();
  }
}

interface Scene {
  readonly gateway: EmbeddedGateway;
  readonly random: Random;
  /** Successful requests and writes so far. */
  done(): { served: number; made: number };
}

async function killAll({ gateway, random, done }: Scene, { short, say }: SettleOptions): Promise<void> {
  const planned = short ? KILLS.short : KILLS.whole;
  while (gateway.counts().kills < planned) {
    const { kills } = gateway.counts();
    if (kills % STARTING_EVERY === STARTING_EVERY - 1) {
      const delayMs = random.between(STARTED_MS.min, STARTED_MS.max);
      await gateway.killStarting(delayMs);
      say(`${kills + 1}: ${delayMs} ms after it was started`);
      continue;
    }
    if (gateway.member.process === null) await gateway.start();
    const before = done();
    const enough = before.served + random.between(SERVED.min, SERVED.max);
    await until(() => done().served >= enough && done().made > before.made, SERVED_MS_MAX);
    await afterMs(random.between(0, 50));
    await gateway.kill();
    say(`${kills + 1}: while it served`);
  }
  await gateway.start();
}

interface Audit {
  readonly attempts: Awaited<ReturnType<LedgerView['attempts']>>;
  readonly comparison: Comparison;
  readonly rollups: readonly string[];
  readonly poisoned: number;
  readonly files: FilesComparison;
  /** Names of all lanes, with repetitions. */
  readonly lanes: readonly string[];
}

/** Reads the directory by moving it to a server; the move counts the rows of every table on both sides. */
async function audit(
  gateway: EmbeddedGateway,
  provider: ProviderLog,
  { say }: SettleOptions,
): Promise<Audit> {
  const database = await emptyDatabase();
  try {
    const printed = await gateway.moveTo(database.url);
    say(printed.split('\n').find((line) => line.includes(' rows in ')) ?? 'nothing was moved');
    const ledger = openLedgerView(database.url);
    try {
      const attempts = await ledger.attempts();
      return {
        attempts,
        comparison: compare(await provider.entries(), { rows: await ledger.rows(), attempts }),
        rollups: await rollupDifferences(ledger),
        poisoned: await ledger.poisoned(),
        files: await compareWhenWritten(gateway.usageFiles, ledger),
        lanes: (await ledger.query<{ name: string }>('select name from lanes')).map(({ name }) => name),
      };
    } finally {
      await ledger.close();
    }
  } finally {
    await database.drop();
  }
}

interface Evidence extends Audit {
  readonly short: boolean;
  readonly gateway: EmbeddedGateway;
  readonly load: Load;
  readonly writes: ManagementWrites;
  readonly windows: readonly string[];
  /** The same, after it was stopped and started. */
  readonly restarted: readonly string[];
  readonly exitCode: number | null;
  readonly left: readonly string[];
}

function judge(evidence: Evidence): SettleResult {
  const { comparison, rollups, windows, poisoned, files, lanes, left, exitCode } = evidence;
  const { kills, opened } = evidence.gateway.counts();
  const sent = evidence.load.sent();
  const answered = served(evidence.load);
  const made = evidence.writes.made();
  const kept = new Set(lanes);
  const lostWrites = made.filter((name) => !kept.has(name));
  const twice = lanes.filter((name, index) => lanes.indexOf(name) !== index);
  const checks: Check[] = [
    {
      name: 'requests were served meanwhile',
      wrong: answered >= SERVED_PER_KILL_MIN * kills ? [] : [String(answered)],
    },
    { name: 'management wrote meanwhile', wrong: made.length >= kills / 2 ? [] : [String(made.length)] },
    { name: 'every request that the provider saw has a row', wrong: comparison.lost },
    { name: 'no request has two rows', wrong: comparison.duplicated },
    { name: 'every management write that was answered is there, once', wrong: [...lostWrites, ...twice] },
    { name: 'no reported row is unknown to the provider', wrong: comparison.invented },
    { name: 'reported rows equal what the provider counted', wrong: unlessZero(comparison.sumDifference) },
    { name: 'costs are the tokens at their price', wrong: unlessZero(comparison.costDifference) },
    { name: 'sums equal the rows in every bucket', wrong: rollups },
    { name: 'windows equal the ledger', wrong: windows },
    { name: 'a restart changes no window', wrong: evidence.restarted },
    { name: 'nothing waits for the ledger', wrong: left },
    { name: 'every row of the ledger is in a closed file', wrong: files.lost },
    { name: 'no row is in closed files twice', wrong: files.duplicated },
    { name: 'every line of a file is a row of the ledger', wrong: files.wrong },
    { name: 'no entry was put aside as unreadable', wrong: unlessZero(poisoned) },
    { name: 'it stops well in the end', wrong: exitCode === 0 ? [] : [`exit code ${exitCode}`] },
  ];
  const figures = {
    kills,
    opened,
    requests: sent.length,
    served: answered,
    dispatched: comparison.dispatched,
    lost: comparison.lost.length + lostWrites.length,
    duplicated: comparison.duplicated.length + twice.length,
    sum_difference: comparison.sumDifference,
    cost_difference: comparison.costDifference,
    management_writes: made.length,
    reported_rows: comparison.reportedRows,
    estimated_rows: comparison.estimatedRows,
    gateway_lost_rows: comparison.gatewayLostRows,
    unsent_rows: comparison.unsentRows,
    rollup_differences: rollups.length,
    window_differences: windows.length,
  };
  return { checks, figures };
}

function served(load: Load): number {
  return load.sent().filter(({ answer }) => answer.status === 200).length;
}

function unlessZero(count: number): string[] {
  return count === 0 ? [] : [String(count)];
}
