import { redisCall } from '@relay/testbed';
import { type LedgerView, openLedgerView } from '../harness/ledger-view.ts';
import { type Backlog, backlogs, liveKeys } from '../harness/live-state.ts';
import { spooledIn } from '../harness/spooled-in.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Comparison, compare, readWindows, windowDifferences } from './compare.ts';
import { exceededLimits } from './exceeded.ts';
import { type Fleet, type FleetOptions, startFleet } from './fleet.ts';
import type { Scene } from './kills.ts';
import { type LoadName, type Sent, startLoad } from './load.ts';
import { momentNames, type PlannedKill, planKills, SEEN_MIN } from './plan.ts';
import { createRandom } from './random.ts';
import { ask } from './request.ts';
import { rollupDifferences } from './rollup-differences.ts';
import { compareWhenWritten, type FilesComparison } from './usage-lines.ts';
import { makeWorld, type World } from './world.ts';

export interface SettleOptions {
  readonly short: boolean;
  readonly seed: number;
  /** Only these faults, where a choice is offered; all when empty. */
  readonly only: readonly string[];
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

/** Counters are right within a minute. */
const CORRECTED_MS_MAX = 60_000;
/** A lease expires 20 s after its gateway's last heartbeat; the entries of a dead worker are claimed after 30 to 40 s. */
const OVER_MS_MAX = 120_000;
const REBUILT_MS_MAX = 20_000;
const KILLS_MIN = 40;
/** Moments that did not come about and are tried once more. */
const MISSES_MAX = 8;
const SERVED_PER_KILL_MIN = 10;
/** What a process logs when it cannot read a line. */
const LINE_DROPPED = 'dropped an unreadable queue';
const PAUSE_MS = { min: 100, max: 900 };

/** Kills gateways, workers and stores under load, and then compares the ledger with the provider's log. */
export async function settle(options: SettleOptions): Promise<SettleResult> {
  const form = options.short ? 'short' : 'whole';
  const trial = await runTrial(options, planKills(form, createRandom(options.seed)), 'steady');
  const missed = momentNames.filter((name) => (trial.seen.get(name) ?? 0) < SEEN_MIN[form]);
  const { kills } = trial;
  const checks: Check[] = [
    {
      name: 'every moment was met',
      wrong: missed.map((name) => `${name}: ${trial.seen.get(name) ?? 0} times`),
    },
    { name: 'there were enough kills', wrong: options.short || kills >= KILLS_MIN ? [] : [`only ${kills}`] },
    ...trial.checks,
  ];
  const moments = Object.fromEntries(trial.seen);
  return { checks, figures: { kills, ...trial.figures, moments, seed: options.seed } };
}

export interface Trial extends SettleResult {
  readonly kills: number;
  /** How often each fault came about. */
  readonly seen: ReadonlyMap<string, number>;
  readonly figures: ReturnType<typeof figuresOf> & { readonly seconds: number };
}

/** One fleet under load, with these faults one after the other; then, when all is over, what the stores hold. */
export async function runTrial(
  options: SettleOptions,
  planned: readonly PlannedKill[],
  loadName: LoadName,
  fleetOptions: FleetOptions = {},
): Promise<Trial> {
  const startMs = performance.now();
  const fleet = await startFleet(fleetOptions);
  try {
    const world = await makeWorld(fleet);
    const load = startLoad(fleet, world, options.seed, loadName);
    const scene = { fleet, world, load, random: createRandom(options.seed) };
    const { kills, seen } = await killAll(scene, planned, options);
    await fleet.whole();
    await load.stop();
    options.say(`${kills} faults, ${load.sent().length} requests sent; waiting until all is over`);
    const left = await untilOver(fleet);
    const found = await look(fleet, world, load.sent());
    const dropped = fleet.warnings().filter((line) => line.includes(LINE_DROPPED));
    const evidence = { kills, left, dropped, sent: load.sent(), ...found };
    const checks = checksOf(evidence);
    if (checks.some(({ wrong }) => wrong.length > 0))
      for (const line of fleet.warnings().slice(0, 30)) options.say(`  ${line}`);
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    return { kills, seen, checks, figures: { ...figuresOf(evidence), seconds } };
  } finally {
    await fleet.stop();
  }
}

export async function killAll(
  scene: Scene,
  plan: readonly PlannedKill[],
  { say }: Pick<SettleOptions, 'say'>,
  missesMax = MISSES_MAX,
): Promise<{ kills: number; seen: Map<string, number>; missed: string[] }> {
  const { random } = scene;
  const seen = new Map<string, number>();
  const missed: string[] = [];
  const planned = [...plan];
  let [kills, misses] = [0, 0];
  for (let next = planned.shift(); next !== undefined; next = planned.shift()) {
    await afterMs(random.between(PAUSE_MS.min, PAUSE_MS.max));
    if (await next.kill(scene)) {
      kills += 1;
      seen.set(next.name, (seen.get(next.name) ?? 0) + 1);
      say(`${kills}: ${next.name}`);
    } else {
      say(`${next.name} did not come about`);
      misses += 1;
      if (misses <= missesMax) planned.push(next);
      else missed.push(next.name);
    }
  }
  return { kills, seen, missed };
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
    spooled: fleet.spools.flatMap(spooledIn),
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

interface Found {
  readonly comparison: Comparison;
  readonly rollups: readonly string[];
  readonly windows: WindowsLeft;
  /** Windows that a loss of Redis changed. */
  readonly rebuilt: readonly string[];
  readonly exceeded: readonly string[];
  readonly poisoned: number;
  readonly files: FilesComparison;
}

async function look(fleet: Fleet, world: World, sent: readonly Sent[]): Promise<Found> {
  const ledger = openLedgerView(fleet.postgres.url);
  try {
    const [rows, attempts] = [await ledger.rows(), await ledger.attempts()];
    const entries = await fleet.provider.entries();
    return {
      comparison: compare(entries, { rows, attempts }),
      exceeded: exceededLimits(entries, sent),
      rollups: await rollupDifferences(ledger),
      windows: await windowsLeft(world, attempts),
      rebuilt: await windowsAfterLoss(fleet, world, ledger),
      poisoned: await ledger.poisoned(),
      files: await compareWhenWritten(fleet.usageFiles, ledger),
    };
  } finally {
    await ledger.close();
  }
}

interface WindowsLeft {
  /** How many differed before reconciliation. */
  readonly differed: number;
  readonly left: readonly string[];
}

/** A store that lost its last moment may have charged a request twice. Reconciliation corrects that; what it leaves is wrong. */
async function windowsLeft(
  world: World,
  attempts: Parameters<typeof windowDifferences>[2],
): Promise<WindowsLeft> {
  const read = async () => windowDifferences(await readWindows(world.admin), world.windows, attempts);
  let left = await read();
  const differed = left.length;
  await until(
    async () => {
      left = await read();
      return left.length === 0;
    },
    CORRECTED_MS_MAX,
    1_000,
  );
  return { differed, left };
}

/** Redis loses everything while nothing is in flight; the first answered request of each lane makes its windows known again. */
async function windowsAfterLoss(fleet: Fleet, world: World, ledger: LedgerView): Promise<readonly string[]> {
  await redisCall(fleet.redis.port, 'FLUSHALL');
  const url = fleet.gateways[0]?.process?.url ?? '';
  for (const target of [world.limited, ...world.gated.slice(0, 1), ...world.falling.slice(0, 1)]) {
    const asking = {
      tag: 'after the loss',
      target,
      words: 'Again.',
      hangUpAfterMs: null,
      sim: {},
      kind: 'chat',
    } as const;
    const isKnown = await until(async () => (await ask(url, asking)).status === 200, REBUILT_MS_MAX, 250);
    if (!isKnown) return [`${target.model} did not answer`];
  }
  await untilOver(fleet);
  return windowDifferences(await readWindows(world.admin), world.windows, await ledger.attempts());
}

interface Evidence extends Found {
  readonly kills: number;
  readonly left: Left;
  /** Lines that a process could not read and forgot. */
  readonly dropped: readonly string[];
  readonly sent: readonly Sent[];
}

function checksOf(evidence: Evidence): Check[] {
  const { kills, left, dropped, sent, comparison, rollups, windows, exceeded, poisoned, files } = evidence;
  const about = (tags: readonly string[]) => tags.map((tag) => describe(tag, sent));
  return [
    {
      name: 'requests were served meanwhile',
      wrong: enoughServed(sent, kills) ? [] : [JSON.stringify(answersOf(sent))],
    },
    { name: 'every request that the provider saw has a row', wrong: about(comparison.lost) },
    { name: 'no request has two rows', wrong: about(comparison.duplicated) },
    { name: 'no reported row is unknown to the provider', wrong: about(comparison.invented) },
    { name: 'reported rows equal what the provider counted', wrong: unlessZero(comparison.sumDifference) },
    { name: 'costs are the tokens at their price', wrong: unlessZero(comparison.costDifference) },
    { name: 'sums equal the rows in every bucket', wrong: rollups },
    { name: 'windows in Redis equal the ledger', wrong: windows.left },
    { name: 'a loss of Redis changes no window', wrong: evidence.rebuilt },
    { name: 'no limit was exceeded', wrong: exceeded },
    { name: 'no lease, queue or holder is left', wrong: left.live },
    { name: 'no line was dropped as unreadable', wrong: dropped },
    { name: 'nothing waits for the ledger', wrong: [...left.streams.map(describeStream), ...left.spooled] },
    { name: 'every row of the ledger is in a closed file', wrong: files.lost },
    { name: 'no row is in closed files twice', wrong: files.duplicated },
    { name: 'every line of a file is a row of the ledger', wrong: files.wrong },
    { name: 'no entry was put aside as unreadable', wrong: unlessZero(poisoned) },
  ];
}

function figuresOf({ left, sent, comparison, rollups, windows, exceeded }: Evidence) {
  return {
    requests: sent.length,
    dispatched: comparison.dispatched,
    lost: comparison.lost.length,
    duplicated: comparison.duplicated.length,
    exceeded: exceeded.length,
    sum_difference: comparison.sumDifference,
    cost_difference: comparison.costDifference,
    reported_rows: comparison.reportedRows,
    estimated_rows: comparison.estimatedRows,
    gateway_lost_rows: comparison.gatewayLostRows,
    unsent_rows: comparison.unsentRows,
    estimated_tokens: comparison.estimatedTokens,
    rollup_differences: rollups.length,
    window_differences: windows.left.length,
    windows_corrected: windows.differed - windows.left.length,
    leases_left: left.live.length,
    backlog: left.streams.reduce((sum, { entries }) => sum + entries, 0) + left.spooled.length,
    answers: answersOf(sent),
  };
}

function answersOf(sent: readonly Sent[]): Record<string, number> {
  const groups = Map.groupBy(sent, ({ answer }) => answer.status);
  return Object.fromEntries([...groups].map(([status, list]) => [status, list.length]));
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
