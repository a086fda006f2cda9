import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { launchChromium, openContext } from '@relay/testbed';
import type { Page } from 'playwright-core';
import { positive, say } from './command-line.ts';
import { firstLoadBytes } from './console/first-load.ts';
import { gradePage } from './console/grade-page.ts';
import { scrollRate } from './console/scroll-rate.ts';
import { ROOT } from './gateways/gateway.ts';
import { configureLargest, startDeployment } from './ledger/deployment.ts';
import { loadLedger } from './ledger/load-ledger.ts';
import { DAY_MS } from './ledger/load-rows.ts';
import { makePopulation, SIZES } from './ledger/population.ts';
import { rangeUntil } from './ledger/read-speed.ts';
import { median, rounded } from './statistics.ts';

export const CONSOLE_USAGE = `console: load times of its pages in a real browser, with a large ledger
  --rows N         ledger rows, over 30 days (1000000)
  --rounds N       how many times each page is opened (5)`;

const PAGES = ['home', 'requests?range=30d', 'usage?range=30d', 'limits', 'lanes', 'playground'];
const TABLE_PATH = '/console/requests?range=30d';
/** Elements that appear only with data: rows with links, bars with a height. */
const ROW = 'main tr[data-row]';
const BAR = 'main svg .recharts-bar-rectangle';
const CHART_PATH = '/console/usage?range=30d&group=model';

/** Opens what people open, on a ledger of a million requests, and scrolls through it. */
export async function console(args: readonly string[]): Promise<unknown> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '5' },
    },
  });
  const rows = positive('--rows', values.rows);
  const rounds = positive('--rounds', values.rounds);
  const built = spawnSync('npm', ['run', '--silent', 'build:console'], {
    cwd: ROOT,
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  if (built.status !== 0) throw new Error('the console could not be built');
  const [deployment, browser] = await Promise.all([startDeployment(), launchChromium()]);
  try {
    const [organization] = makePopulation(await configureLargest(deployment, SIZES));
    if (organization === undefined) throw new Error('there are no organizations');
    const { fromMs } = rangeUntil(Date.now() - (Date.now() % DAY_MS));
    await loadLedger(deployment.client, [organization], { rows, fromMs });
    say(`${rows} rows and their sums are loaded`);
    const context = await openContext(browser, { url: deployment.url, theme: 'light', widthPx: 1440 });
    const page = await context.newPage();
    await signIn(page, deployment.adminToken);
    const pages: Record<string, unknown> = {};
    for (const path of PAGES) pages[path] = await gradePage(page, `/console/${path}`);
    const requestsMs = await timesToShow(page, TABLE_PATH, ROW, rounds);
    const usageMs = await timesToShow(page, CHART_PATH, BAR, rounds);
    await page.goto(TABLE_PATH);
    await page.locator(ROW).first().waitFor();
    const { framesPerSecond, scrolledRows } = await scrollRate(page);
    return {
      rows,
      first_load_kib_gzip: rounded((await firstLoadBytes(deployment.url)) / 1_024, 1),
      requests_open_ms: rounded(Math.max(...requestsMs), 0),
      requests_open_ms_median: rounded(median(requestsMs), 0),
      usage_draw_ms: rounded(Math.max(...usageMs), 0),
      usage_draw_ms_median: rounded(median(usageMs), 0),
      min_fps: rounded(Math.min(...framesPerSecond), 0),
      median_fps: rounded(median(framesPerSecond), 0),
      scrolled_rows: scrolledRows,
      pages,
    };
  } finally {
    await browser.close();
    await deployment.stop();
  }
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.goto('/');
  await page.getByLabel('Admin token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** From the moment an address is entered, with what the browser has kept from before, to what is looked for. */
async function timesToShow(
  page: Page,
  path: string,
  selector: string,
  rounds: number,
): Promise<readonly number[]> {
  const timesMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.goto('about:blank');
    await page.goto(path, { waitUntil: 'commit' });
    timesMs.push(await shownAfterMs(page, selector));
  }
  return timesMs;
}

/** Measured by the page's own clock, frame by frame; polling from outside would add its interval. */
async function shownAfterMs(page: Page, selector: string): Promise<number> {
  return (await page.evaluate(`new Promise((resolve) => {
    const look = () => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) requestAnimationFrame(look);
      else requestAnimationFrame(() => resolve(performance.now()));
    };
    look();
  })`)) as number;
}
