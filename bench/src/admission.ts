import { type Contestant, createContestant, type EngineSlice } from './admission/engine-slice.ts';
import { CONTESTANTS, type ContestantName, engineFigures } from './admission/figures.ts';
import { measureRoundTrips } from './admission/round-trips.ts';
import { readSettings, type Settings } from './admission/settings.ts';
import { type Side, startSide } from './admission/side.ts';
import { say } from './command-line.ts';
import { ROOT } from './gateways/gateway.ts';
import { pinToLoadCore } from './pinned-process.ts';
import { runRounds } from './rounds.ts';
import { rounded, type Spread } from './statistics.ts';

/** The figures that the bench always prints; a part that did not run leaves its own null. */
const MAIN_FIGURES: Readonly<Figures> = {
  redis_cpu_ratio_1: null,
  redis_cpu_ratio_16: null,
  per_second_one_organization: null,
  aof_bytes: null,
};
const PRODUCT_SLICE_MS = 1_000;

type Figures = Record<string, number | Spread | null>;

/** The engines side by side, then the number of calls that the product makes for a request. */
export async function admission(args: readonly string[]): Promise<Figures> {
  const settings = readSettings(args);
  pinToLoadCore();
  return {
    ...MAIN_FIGURES,
    ...(settings.parts.includes('engine') ? await measureEngines(settings) : {}),
    ...(settings.parts.includes('product') ? await measureRoundTrips(PRODUCT_SLICE_MS) : {}),
  };
}

async function measureEngines(settings: Settings): Promise<Figures> {
  const checkout = settings.openBefore();
  const sides: Side[] = [];
  const start = async (root: string): Promise<Side> => {
    const side = await startSide(root);
    sides.push(side);
    return side;
  };
  try {
    const [before, now] = [await start(checkout.root), await start(ROOT)];
    const contestants: Record<ContestantName, Contestant> = {
      'before 1': await createContestant(before, 1),
      'before 16': await createContestant(before, 16),
      'now 1': await createContestant(now, 1),
      'now 16': await createContestant(now, 16),
    };
    const measure = async (name: ContestantName): Promise<EngineSlice> => {
      const slice = await contestants[name].slice(settings.requests);
      const [cpuUs, bytes] = [rounded(slice.cpuUs, 1), rounded(slice.aofBytes, 0)];
      say(`  ${name.padEnd(10)}${cpuUs} µs and ${bytes} bytes per request`);
      return slice;
    };
    for (const name of CONTESTANTS) await measure(name);
    const rounds = await runRounds(CONTESTANTS, settings.slices, measure);
    await demandRows(before, [contestants['before 1'], contestants['before 16']]);
    await demandRows(now, [contestants['now 1'], contestants['now 16']]);
    return engineFigures(rounds);
  } finally {
    for (const side of sides) await side.stop();
    checkout.remove();
  }
}

/** A worker that throws records away would be cheap to serve. */
async function demandRows(side: Side, contestants: readonly Contestant[]): Promise<void> {
  const count = contestants.reduce((sum, contestant) => sum + contestant.settled(), 0);
  const rows = await side.ledgerRows();
  if (rows !== count) throw new Error(`only ${rows} of ${count} requests have a row in the ledger`);
}
