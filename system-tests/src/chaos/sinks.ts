import { afterMs } from '../harness/until.ts';
import { type Fleet, startFleet } from './fleet.ts';
import * as sink from './kill-sink.ts';
import * as worker from './kill-worker.ts';
import type { Kill, Scene } from './kills.ts';
import { openLedgerView } from './ledger-view.ts';
import { startLoad } from './load.ts';
import { createRandom } from './random.ts';
import { type Check, type SettleOptions, type SettleResult, untilOver } from './settle.ts';
import { compareWhenWritten, type FilesComparison } from './usage-lines.ts';
import { makeWorld } from './world.ts';

/** Each way to kill a worker, and how often in a whole run and in a short one. */
const MOMENTS: Readonly<
  Record<string, { readonly kill: Kill; readonly whole: number; readonly short: number }>
> = {
  ledger_before_commit: { kill: worker.beforeCommit, whole: 2, short: 0 },
  ledger_after_commit: { kill: worker.afterCommit, whole: 3, short: 1 },
  in_file: { kill: sink.inFile, whole: 4, short: 1 },
  file_sealed: { kill: sink.sealed, whole: 4, short: 1 },
  before_rename: { kill: sink.beforeRename, whole: 4, short: 1 },
  anywhere: { kill: worker.anywhere, whole: 4, short: 1 },
};

const MISSES_MAX = 12;
const PAUSE_MS = { min: 100, max: 900 };
const ROWS_PER_KILL_MIN = 10;

/** Kills workers while they write the ledger and its files, and then compares the closed files with the ledger. */
export async function sinks(options: SettleOptions): Promise<SettleResult> {
  const startMs = performance.now();
  const fleet = await startFleet({ gateways: 1 });
  try {
    const world = await makeWorld(fleet);
    const load = startLoad(fleet, world, options.seed);
    const scene = { fleet, world, load, random: createRandom(options.seed) };
    const { kills, missed } = await killAll(scene, options);
    await fleet.whole();
    await load.stop();
    options.say(`${kills} killed, ${load.sent().length} requests sent; waiting until all is written`);
    const left = await untilOver(fleet);
    const unwritten = [...left.streams.map(({ stream }) => stream), ...left.spooled];
    const result = judge({ kills, missed, unwritten, ...(await look(fleet)) });
    if (result.checks.some((check) => check.wrong.length > 0))
      for (const line of fleet.warnings().slice(0, 30)) options.say(`  ${line}`);
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    return { checks: result.checks, figures: { ...result.figures, seconds, seed: options.seed } };
  } finally {
    await fleet.stop();
  }
}

async function killAll(
  scene: Scene,
  { short, say }: SettleOptions,
): Promise<{ kills: number; missed: string[] }> {
  const { random } = scene;
  const planned = random.shuffled(
    Object.entries(MOMENTS).flatMap(([name, { kill, ...times }]) =>
      Array.from({ length: short ? times.short : times.whole }, () => ({ name, kill })),
    ),
  );
  let [kills, misses] = [0, 0];
  const missed: string[] = [];
  for (let next = planned.shift(); next !== undefined; next = planned.shift()) {
    await afterMs(random.between(PAUSE_MS.min, PAUSE_MS.max));
    if (await next.kill(scene)) {
      kills += 1;
      say(`${kills}: ${next.name}`);
      continue;
    }
    say(`${next.name} did not come about`);
    misses += 1;
    if (misses <= MISSES_MAX) planned.push(next);
    else missed.push(next.name);
  }
  return { kills, missed };
}

interface Found {
  readonly rows: number;
  readonly comparison: FilesComparison;
}

async function look(fleet: Fleet): Promise<Found> {
  const ledger = openLedgerView(fleet.postgres.url);
  try {
    const comparison = await compareWhenWritten(fleet.usageFiles, ledger);
    return { rows: (await ledger.rows()).length, comparison };
  } finally {
    await ledger.close();
  }
}

interface Evidence extends Found {
  readonly kills: number;
  readonly missed: readonly string[];
  readonly unwritten: readonly string[];
}

function judge({ kills, missed, rows, comparison, unwritten }: Evidence): SettleResult {
  const { files, lines, lost, duplicated } = comparison;
  const checks: Check[] = [
    { name: 'every moment was met', wrong: missed },
    { name: 'rows were written meanwhile', wrong: rows >= ROWS_PER_KILL_MIN * kills ? [] : [String(rows)] },
    { name: 'every row of the ledger is in a closed file', wrong: lost },
    { name: 'no row is in closed files twice', wrong: duplicated },
    { name: 'every line is a row of the ledger', wrong: comparison.wrong },
    { name: 'nothing waits for the ledger', wrong: unwritten },
  ];
  return {
    checks,
    figures: { kills, rows, lost: lost.length, duplicated: duplicated.length, files, lines },
  };
}
