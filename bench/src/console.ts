import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { launchChromium, openContext } from '@relay/testbed';
import type { Page } from 'playwright-core';
import { positive, say } from './command-line.ts';
import { firstLoadBytes, fontBytes } from './console/first-load.ts';
import { gradePage, type PageGrade } from './console/grade-page.ts';
import { scrollRate } from './console/scroll-rate.ts';
import { ROOT } from './gateways/gateway.ts';
import { configureLargest, type Deployment, startDeployment } from './ledger/deployment.ts';
import { loadLedger } from './ledger/load-ledger.ts';
import { DAY_MS } from './ledger/load-rows.ts';
import { makePopulation, SIZES } from './ledger/population.ts';
import { rangeUntil } from './ledger/read-speed.ts';
import { median, rounded } from './statistics.ts';

export const CONSOLE_USAGE = `console: load times of its pages in a real browser, with a large ledger
  --rows N         ledger rows, over 30 days (1000000)
  --rounds N       how many times each page is opened (5)`;

/** Elements that appear only with data: rows with links, bars with a height. */
const ROW = 'main tr[data-row]';
const BAR = 'main svg .recharts-bar-rectangle';
const NAMED_ROW = 'main tbody tr :is(a, button)';
const REQUESTS = 'requests?range=30d';
const USAGE = 'usage?range=30d&group=model';
const DATA_OF: Readonly<Record<string, string>> = {
  home: BAR,
  live: 'main a[href*="/console/lanes/"]',
  [REQUESTS]: ROW,
  [USAGE]: BAR,
  limits: NAMED_ROW,
  lanes: NAMED_ROW,
  endpoints: NAMED_ROW,
  providers: NAMED_ROW,
  keys: NAMED_ROW,
  // Nothing serves inference here, so there is no model to ask.
  playground: 'main h1',
};
const ENDPOINTS = 500;

interface PageFigures extends PageGrade {
  /** Of all rounds, the slowest. */
  readonly open_ms: number;
  readonly open_ms_median: number;
}

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
    const configured = await configureLargest(deployment, { ...SIZES, endpoints: ENDPOINTS });
    const keys = await createKeys(deployment);
    await limitEach(deployment, configured.endpoints);
    const [organization] = makePopulation({ ...configured, keys });
    if (organization === undefined) throw new Error('there are no organizations');
    const { fromMs } = rangeUntil(Date.now() - (Date.now() % DAY_MS));
    await loadLedger(deployment.client, [organization], { rows, fromMs });
    say(`${rows} rows and their sums are loaded`);
    const context = await openContext(browser, { url: deployment.url, theme: 'light', widthPx: 1440 });
    const page = await context.newPage();
    await signIn(page, deployment.adminToken);
    const pages: Record<string, PageFigures> = {};
    for (const [path, data] of Object.entries(DATA_OF)) {
      const grade = await gradePage(page, `/console/${path}`, data);
      const timesMs = await timesToShow(page, `/console/${path}`, data, rounds);
      pages[path] = {
        open_ms: rounded(Math.max(...timesMs), 0),
        open_ms_median: rounded(median(timesMs), 0),
        ...grade,
      };
    }
    await page.goto(`/console/${REQUESTS}`);
    await page.locator(ROW).first().waitFor();
    const { framesPerSecond, scrolledRows } = await scrollRate(page);
    return {
      rows,
      first_load_kib_gzip: rounded((await firstLoadBytes(deployment.url)) / 1_024, 1),
      endpoints: ENDPOINTS,
      fonts_kib: rounded((await fontBytes(deployment.url)) / 1_024, 1),
      slowest_page_ms: Math.max(...Object.values(pages).map(({ open_ms: openMs }) => openMs)),
      requests_open_ms: pages[REQUESTS]?.open_ms,
      usage_draw_ms: pages[USAGE]?.open_ms,
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

/** The keys that the requests were made with. */
async function createKeys({ post }: Deployment): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let index = 0; index < SIZES.keys; index += 1)
    keys.push(await post('/api/account/api-keys', { name: `Key ${index}`, scopes: ['relay:request'] }));
  return keys;
}

async function limitEach({ post }: Deployment, endpoints: readonly string[]): Promise<void> {
  for (const id of endpoints)
    await post('/api/relay/limit-policies', {
      scope_type: 'endpoint',
      scope_id: id,
      metric: 'requests',
      period: 'day',
      limit_value: 100_000,
      enabled: true,
    });
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
