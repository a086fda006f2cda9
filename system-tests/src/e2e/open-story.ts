import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before } from 'node:test';
import { launchChromium, openContext, type Theme } from '@relay/testbed';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import type { Deployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { startConsoleSite } from './console-site.ts';
import { inspect, newFindings, watch } from './visit.ts';

/** What the tests of one file share: a deployment, a browser, and what was seen on the way. */
export interface Story {
  readonly site: Deployment;
  /** The page of the story, light and wide. */
  readonly page: Page;
  /** A page in a profile of its own, of this deployment or of another. */
  open(theme: Theme, widthPx: number, url?: string): Promise<Page>;
  button(name: string | RegExp): Locator;
  /** Goes to a page by the navigation. */
  toPage(name: string): Promise<void>;
  /** Runs axe over what is shown, and counts it as a page that was visited. */
  inspect(name: string, page?: Page): Promise<void>;
  /**
   * Checks that no page violated accessibility rules or the content security policy, or logged an error. The last
   * test of every story.
   */
  assertNothingFound(): void;
}

/** Stories that share a process share its browser, which ends with the process. */
let browserOfProcess: Promise<Browser> | null = null;
/** Over all stories of the process. */
const seen = { pages: 0, axe_violations: 0 };

/** Call it in a `describe`; what it answers may be used from the first test on. */
export function openStory(
  setUp: (site: Deployment) => Promise<void> = async () => {},
  env: Readonly<Record<string, string>> = {},
): Story {
  const findings = newFindings();
  let site: Deployment;
  let browser: Browser;
  let page: Page;
  const contexts: BrowserContext[] = [];

  async function open(theme: Theme, widthPx: number, url = site.url): Promise<Page> {
    const context = await openContext(browser, { url, theme, widthPx });
    contexts.push(context);
    const opened = await context.newPage();
    watch(opened, findings);
    return opened;
  }

  before(async () => {
    browserOfProcess ??= launchChromium();
    [site, browser] = await Promise.all([startConsoleSite(env), browserOfProcess]);
    await setUp(site);
    page = await open('light', 1440);
  });
  afterEach(async (context) => {
    const folder = process.env['RELAY_REPORTS_DIR'];
    if (folder === undefined || !('passed' in context) || context.passed) return;
    mkdirSync(folder, { recursive: true });
    await page?.screenshot({ path: join(folder, `${context.fullName.replaceAll(/[^\w]+/g, '-')}.png`) });
  });
  after(async () => {
    seen.pages += findings.pages.size;
    seen.axe_violations += findings.violations.length;
    reportFigures(seen);
    await Promise.all(contexts.map((context) => context.close()));
    await site?.stop();
  });

  return {
    get site() {
      return site;
    },
    get page() {
      return page;
    },
    open,
    button: (name) => page.getByRole('button', { name, exact: true }),
    toPage: (name) =>
      page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click(),
    inspect: (name, inspected = page) => inspect(inspected, name, findings),
    assertNothingFound() {
      assert.deepEqual(findings.violations, []);
      assert.deepEqual(findings.complaints, []);
    },
  };
}
