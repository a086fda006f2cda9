import { openLedgerView } from '../harness/ledger-view.ts';
import { type Fleet, startFleet } from './fleet.ts';
import * as sink from './kill-sink.ts';
import * as worker from './kill-worker.ts';
import { startLoad } from './load.ts';
import { type Planned, planOf } from './plan.ts';
import { createRandom } from './random.ts';
import { type Check, killAll, type SettleOptions, type SettleResult, untilOver } from './settle.ts';
import { compareWhenWritten, type FilesComparison } from './usage-lines.ts';
import { makeWorld } from './world.ts';

/** Each way to kill a worker, and how often in a whole run and in a short one. */
const MOMENTS: Readonly<Record<string, Planned>> = {
  ledger_before_commit: { kill: worker.beforeCommit, whole: 2, short: 0 },
  ledger_after_commit: { kill: worker.afterCommit, whole: 3, short: 1 },
  in_file: { kill: sink.inFile, whole: 4, short: 1 },
  file_sealed: { kill: sink.sealed, whole: 4, short: 1 },
  before_rename: { kill: sink.beforeRename, whole: 4, short: 1 },
  anywhere: { kill: worker.anywhere, whole: 4, short: 1 },
};

const MISSES_MAX = 12;
const ROWS_PER_KILL_MIN = 10;

/** Kills workers while they write the ledger and its files, and then compares the closed files with the ledger. */
export async function sinks(options: SettleOptions): Promise<SettleResult> {
  const startMs = performance.now();
  const fleet = await startFleet({ gateways: 1 });
  try {
    const world = await makeWorld(fleet);
    const load = startLoad(fleet, world, options.seed);
    const random = createRandom(options.seed);
    const planned = planOf(MOMENTS, options.short ? 'short' : 'whole', random);
    const { kills, missed } = await killAll({ fleet, world, load, random }, planned, options, MISSES_MAX);
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
