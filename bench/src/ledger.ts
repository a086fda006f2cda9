import { parseArgs } from 'node:util';
import { positive, say } from './command-line.ts';
import { configureLargest, startDeployment } from './ledger/deployment.ts';
import { loadLedger } from './ledger/load-ledger.ts';
import { DAY_MS } from './ledger/load-rows.ts';
import { filledDays, plansDuring, sequentialScans } from './ledger/plans.ts';
import { makePopulation, SIZES } from './ledger/population.ts';
import { makeReads, measureReads, rangeUntil } from './ledger/read-speed.ts';
import { measureSpeeds } from './ledger/worker-speed.ts';
import { median, rounded } from './statistics.ts';

export const LEDGER_USAGE = `ledger: read times of a large ledger, and the worker's write speed
  --rows N         ledger rows, over 30 days (5000000)
  --endpoints N    endpoints of the organization that has half of the rows, (20)
  --lanes N        lanes of that organization (5)
  --keys N         API keys of that organization (200)
  --worker-rows N  rows to time the worker with (60000, or 10% of the rows)
  --rounds N       how many times it is timed (3)`;

const ROWS = 5_000_000;
const WORKER_ROWS_MAX = 60_000;

/** Loads a ledger with its sums, times the worker against COPY, and asks what people ask, over HTTP. */
export async function ledger(args: readonly string[]): Promise<unknown> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string' },
      endpoints: { type: 'string' },
      lanes: { type: 'string' },
      keys: { type: 'string' },
      'worker-rows': { type: 'string' },
      rounds: { type: 'string' },
    },
  });
  const rows = positive('--rows', values.rows ?? String(ROWS));
  const workerRows = Math.min(WORKER_ROWS_MAX, Math.ceil(rows / 10));
  const settings = {
    rows: positive('--worker-rows', values['worker-rows'] ?? String(workerRows)),
    rounds: positive('--rounds', values.rounds ?? '3'),
  };
  const endpoints = positive('--endpoints', values.endpoints ?? String(SIZES.endpoints));
  const lanes = positive('--lanes', values.lanes ?? String(SIZES.lanes));
  const keys = positive('--keys', values.keys ?? String(SIZES.keys));
  const deployment = await startDeployment();
  try {
    const organizations = makePopulation(await configureLargest(deployment, { endpoints, lanes }), keys);
    const [largest] = organizations;
    if (largest === undefined) throw new Error('there are no organizations');
    const todayMs = Date.now() - (Date.now() % DAY_MS);
    const range = rangeUntil(todayMs);
    // Before the range, so that its rows are neither read nor counted with the others.
    const speeds = await measureSpeeds(deployment, organizations, range.fromMs - 2 * DAY_MS, settings);
    say(`the worker was timed with ${settings.rows} rows, ${settings.rounds} times`);
    await loadLedger(deployment.client, organizations, { rows, fromMs: range.fromMs });
    say(`${rows} rows and their sums are loaded`);
    const reads = await makeReads(deployment, largest, range);
    say(`${reads.length} questions are asked`);
    const p95Ms = await measureReads(deployment, reads);
    const plans = await plansDuring(deployment, async () => {
      for (const { path } of reads) await deployment.get(path);
    });
    if (plans.length < reads.length) throw new Error(`only ${plans.length} plans were logged`);
    const ratios = speeds.map((speed) => speed.workerRowsPerSecond / speed.copyRowsPerSecond);
    return {
      rows,
      endpoints,
      lanes,
      keys,
      p95_ms: p95Ms,
      plans: plans.length,
      sequential_scans: sequentialScans(plans, await filledDays(deployment)),
      worker_rows_per_s: rounded(median(speeds.map((speed) => speed.workerRowsPerSecond)), 0),
      copy_rows_per_s: rounded(median(speeds.map((speed) => speed.copyRowsPerSecond)), 0),
      copy_ratio: rounded(median(ratios), 3),
    };
  } finally {
    await deployment.stop();
  }
}
