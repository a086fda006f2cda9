// `npm run screenshots [-- DIRECTORY]`: builds the console, fills a deployment, and takes a picture of every page in both
// themes and at both widths.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launchChromium, openContext } from './chromium.ts';
import { startConsoleSite } from './console-site.ts';
import { type Seeded, seedConsole } from './seed-console.ts';
import { signInWithToken } from './sign-in.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DIRECTORY = process.argv[2] ?? join(ROOT, 'docs/screenshots');

type Visit = (page: Page, seeded: Seeded) => Promise<void>;

/** How each picture is brought about. */
const visits: Readonly<Record<string, Visit>> = {
  async playground(page) {
    await page.goto('/console/playground');
    await page.getByLabel('Your message').fill('Which of these invoices are overdue?');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('Tokens in / out').waitFor();
    await page.getByRole('button', { name: 'Run' }).waitFor();
  },
  async lanes(page) {
    await page.goto('/console/lanes');
    await page.getByText('Traffic').first().waitFor();
  },
  async lane(page, { laneId }) {
    await page.goto(`/console/lanes/${laneId}`);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('It would go').waitFor();
    await page.evaluate('window.scrollTo(0, 0)');
  },
  async endpoints(page) {
    await page.goto('/console/endpoints');
    await page.getByRole('row').nth(1).waitFor();
  },
  async endpoint(page) {
    await page.goto('/console/endpoints');
    await page.getByRole('row').nth(1).getByRole('button').first().click();
    await page.getByText('for a million tokens').first().waitFor();
  },
  async providers(page) {
    await page.goto('/console/providers');
    await page.getByRole('row').nth(1).waitFor();
  },
  async provider(page) {
    await page.goto('/console/providers');
    await page.getByRole('row').nth(1).getByRole('button').first().click();
    await page.getByRole('button', { name: 'Test connection' }).click();
    await page.getByText('It works').waitFor();
  },
  async keys(page) {
    await page.goto('/console/keys');
    await page.getByRole('row').nth(1).waitFor();
  },
  async 'new-key'(page) {
    await page.goto('/console/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('relay:request').first().waitFor();
  },
  async palette(page) {
    await page.goto('/console/lanes');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
  },
};

async function main(): Promise<void> {
  const built = spawnSync('npm', ['run', '--silent', 'build:console'], { cwd: ROOT, stdio: 'inherit' });
  if (built.status !== 0) throw new Error('the console could not be built');
  mkdirSync(DIRECTORY, { recursive: true });
  const [site, browser] = await Promise.all([startConsoleSite(), launchChromium()]);
  try {
    const seeded = await seedConsole(site);
    for (const theme of ['light', 'dark'] as const) {
      for (const widthPx of [1440, 390]) {
        const context = await openContext(browser, { url: site.url, theme, widthPx });
        const page = await context.newPage();
        await signInWithToken(page, site.adminToken);
        for (const [name, visit] of Object.entries(visits)) {
          await visit(page, seeded);
          await page.waitForLoadState('networkidle');
          await page.screenshot({ path: join(DIRECTORY, `${name}-${theme}-${widthPx}.png`) });
        }
        await context.close();
      }
    }
  } finally {
    await browser.close();
    await site.stop();
  }
  const count = Object.keys(visits).length * 4;
  process.stdout.write(`${JSON.stringify({ pictures: count })}\n`);
}

await main();
