import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Backlog, backlogs, liveKeys } from '../harness/live-state.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Comparison, compare, readWindows, windowDifferences } from './compare.ts';
import { type Fleet, startFleet } from './fleet.ts';
import type { Scene } from './kills.ts';
import { openLedgerView } from './ledger-view.ts';
import { type Sent, startLoad } from './load.ts';
import { anywhereNames, type MomentName, momentNames, planKills, SEEN_MIN } from './plan.ts';
import { createRandom } from './random.ts';
import { rollupDifferences } from './rollup-differences.ts';
import { compareWhenWritten, type FilesComparison } from './usage-lines.ts';
import { makeWorld, type World } from './world.ts';

export interface SettleOptions {
  readonly short: boolean;
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface Check {
  readonly name: string;
  /** Empty when the check passes. */
  readonly wrong: readonly string[];
}

export interface SettleResult {
  readonly checks: readonly Check[];
  readonly figures: Readonly<Record<string, unknown>>;
}

/** A lease expires 20 s after its gateway's last heartbeat; the entries of a dead worker are claimed after 30 to 40 s. */
const OVER_MS_MAX = 120_000;
const KILLS_MIN = 40;
const MISSES_MAX = 8;
const SERVED_PER_KILL_MIN = 10;
const PAUSE_MS = { min: 100, max: 900 };

/** Kills gateways, workers and stores under load, and then compares the ledger with the provider's log. */
export async function settle(options: SettleOptions): Promise<SettleResult> {
  const startMs = performance.now();
  const fleet = await startFleet();
  try {
    const world = await makeWorld(fleet);
    const load = startLoad(fleet, world, options.seed);
    const scene = { fleet, world, load, random: createRandom(options.seed) };
    const { kills, seen } = await killAll(scene, options);
    await fleet.whole();
    await load.stop();
    options.say(`${kills} killed, ${load.sent().length} requests sent; waiting until all is over`);
    const left = await untilOver(fleet);
    const found = await look(fleet, world);
    const result = judge(options, { kills, seen, left, sent: load.sent(), ...found });
    if (result.checks.some(({ wrong }) => wrong.length > 0))
      for (const line of fleet.warnings().slice(0, 30)) options.say(`  ${line}`);
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    return { checks: result.checks, figures: { ...result.figures, seconds } };
  } finally {
    await fleet.stop();
  }
}

type Seen = Record<MomentName, number>;

async function killAll(scene: Scene, options: SettleOptions): Promise<{ kills: number; seen: Seen }> {
  const { random } = scene;
  const seen = Object.fromEntries(momentNames.map((name) => [name, 0])) as Seen;
  const planned = planKills(options.short ? 'short' : 'whole', random);
  let [kills, misses] = [0, 0];
  for (let next = planned.shift(); next !== undefined; next = planned.shift()) {
    await afterMs(random.between(PAUSE_MS.min, PAUSE_MS.max));
    if (await next.kill(scene)) {
      kills += 1;
      seen[next.name] += 1;
      options.say(`${kills}: ${next.name}`);
    } else {
      options.say(`${next.name} did not come about; later once more`);
      misses += 1;
      if (misses <= MISSES_MAX) planned.push(next);
    }
  }
  return { kills, seen };
}

interface Left {
  readonly streams: readonly Backlog[];
  readonly live: readonly string[];
  readonly spooled: readonly string[];
}

/** Waits until no request is in flight or unwritten, and answers what is left after the deadline. */
export async function untilOver(fleet: Fleet): Promise<Left> {
  const { port } = fleet.redis;
  const read = async (): Promise<Left> => ({
    streams: await backlogs(port),
    live: await liveKeys([port]),
    spooled: spooledIn(fleet.spools),
  });
  let left = await read();
  await until(
    async () => {
      left = await read();
      return left.streams.length === 0 && left.live.length === 0 && left.spooled.length === 0;
    },
    OVER_MS_MAX,
    250,
  );
  return left;
}

function spooledIn(directories: readonly string[]): string[] {
  return directories.flatMap((directory) =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .map((name) => join(directory, name))
      .filter((path) => statSync(path).isFile() && statSync(path).size > 0),
  );
}

interface Found {
  readonly comparison: Comparison;
  readonly rollups: readonly string[];
  readonly windows: readonly string[];
  readonly poisoned: number;
  readonly files: FilesComparison;
}

async function look(fleet: Fleet, world: World): Promise<Found> {
  const ledger = openLedgerView(fleet.postgres.url);
  try {
    const rows = await ledger.rows();
    return {
      comparison: compare(await fleet.provider.entries(), rows),
      rollups: await rollupDifferences(ledger),
      windows: windowDifferences(await readWindows(world.admin), world.windows, rows),
      poisoned: await ledger.poisoned(),
      files: await compareWhenWritten(fleet.usageFiles, ledger),
    };
  } finally {
    await ledger.close();
  }
}

interface Evidence extends Found {
  readonly kills: number;
  readonly seen: Seen;
  readonly left: Left;
  readonly sent: readonly Sent[];
}

function judge({ short, seed }: SettleOptions, evidence: Evidence): SettleResult {
  const { kills, seen, left, sent, comparison, rollups, windows, poisoned, files } = evidence;
  const answers = Object.fromEntries(
    [...Map.groupBy(sent, ({ answer }) => answer.status)].map(([status, list]) => [status, list.length]),
  );
  const about = (tags: readonly string[]) => tags.map((tag) => describe(tag, sent));
  const seenMin = SEEN_MIN[short ? 'short' : 'whole'];
  const missed = momentNames.filter((name) => !anywhereNames.includes(name) && seen[name] < seenMin);
  const checks: Check[] = [
    { name: 'every moment was met', wrong: missed.map((name) => `${name}: ${seen[name]} times`) },
    { name: 'there were enough kills', wrong: short || kills >= KILLS_MIN ? [] : [`only ${kills}`] },
    {
      name: 'requests were served meanwhile',
      wrong: enoughServed(sent, kills) ? [] : [JSON.stringify(answers)],
    },
    { name: 'every request that the provider saw has a row', wrong: about(comparison.lost) },
    { name: 'no request has two rows', wrong: about(comparison.duplicated) },
    { name: 'no reported row is unknown to the provider', wrong: about(comparison.invented) },
    { name: 'reported rows equal what the provider counted', wrong: unlessZero(comparison.sumDifference) },
    { name: 'costs are the tokens at their price', wrong: unlessZero(comparison.costDifference) },
    { name: 'sums equal the rows in every bucket', wrong: rollups },
    { name: 'windows in Redis equal the ledger', wrong: windows },
    { name: 'no lease, queue or holder is left', wrong: left.live },
    { name: 'nothing waits for the ledger', wrong: [...left.streams.map(describeStream), ...left.spooled] },
    { name: 'every row of the ledger is in a closed file', wrong: files.lost },
    { name: 'no row is in closed files twice', wrong: files.duplicated },
    { name: 'every line of a file is a row of the ledger', wrong: files.wrong },
    { name: 'no entry was put aside as unreadable', wrong: unlessZero(poisoned) },
  ];
  const figures = {
    kills,
    requests: sent.length,
    dispatched: comparison.dispatched,
    lost: comparison.lost.length,
    duplicated: comparison.duplicated.length,
    sum_difference: comparison.sumDifference,
    cost_difference: comparison.costDifference,
    reported_rows: comparison.reportedRows,
    estimated_rows: comparison.estimatedRows,
    gateway_lost_rows: comparison.gatewayLostRows,
    unsent_rows: comparison.unsentRows,
    estimated_tokens: comparison.estimatedTokens,
    rollup_differences: rollups.length,
    window_differences: windows.length,
    leases_left: left.live.length,
    backlog: left.streams.reduce((sum, { entries }) => sum + entries, 0) + left.spooled.length,
    answers,
    moments: seen,
    seed,
  };
  return { checks, figures };
}

/** A run that serves hardly any request proves little. */
function enoughServed(sent: readonly Sent[], kills: number): boolean {
  return sent.filter(({ answer }) => answer.status === 200).length >= SERVED_PER_KILL_MIN * kills;
}

function describe(tag: string, sent: readonly Sent[]): string {
  const found = sent.find((each) => each.tag === tag);
  if (found === undefined) return `${tag}, which was never answered`;
  const { gateway, kind, model, answer } = found;
  return `${tag}: ${kind} to ${model} at ${gateway}, answered ${answer.status}${answer.whole ? ' whole' : ''}`;
}

function describeStream({ stream, entries, taken }: Backlog): string {
  return `${stream} holds ${entries} entries, of which ${taken} are taken and not acknowledged`;
}

function unlessZero(count: number): string[] {
  return count === 0 ? [] : [String(count)];
}
