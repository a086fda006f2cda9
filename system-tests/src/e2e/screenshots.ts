// `npm run screenshots [-- --to DIRECTORY] [NAME…]`: builds the console, fills a deployment, and takes a picture of every
// page, or of those that are named, in both themes and at both widths. Of most pages, the repository keeps one of the four.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchChromium, openContext } from '@relay/testbed';
import type { Page } from 'playwright-core';
import { buildConsole } from './build-console.ts';
import { startConsoleSite } from './console-site.ts';
import { pictures } from './pictures.ts';
import { seedConsole } from './seed-console.ts';
import { signInWithToken } from './sign-in.ts';

const ROOT = join(import.meta.dirname, '../../..');
const KEPT = join(ROOT, 'docs/screenshots');
/** Kept in both themes and at both widths. */
const MAIN_PAGES = ['home', 'live', 'lane', 'requests', 'request', 'endpoints', 'keys', 'limits'];
const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { to: { type: 'string', default: KEPT } },
});

function isTaken(name: string, theme: string, widthPx: number): boolean {
  return values.to !== KEPT || MAIN_PAGES.includes(name) || (theme === 'light' && widthPx === 1440);
}

/** As WebP, which takes a third of a PNG: the pictures are kept with the documents. */
async function takePicture(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
  await session.detach();
  writeFileSync(path, data, 'base64');
}

async function main(): Promise<void> {
  const unknown = names.filter((name) => !(name in pictures));
  if (unknown.length > 0)
    throw new Error(
      `no screenshot is named ${unknown.join(', ')}; use one of: ${Object.keys(pictures).join(', ')}`,
    );
  const visits = Object.entries(pictures).filter(([name]) => names.length === 0 || names.includes(name));
  buildConsole(ROOT);
  mkdirSync(values.to, { recursive: true });
  let count = 0;
  const [site, browser] = await Promise.all([startConsoleSite(), launchChromium()]);
  try {
    const seeded = await seedConsole(site);
    for (const theme of ['light', 'dark'] as const) {
      for (const widthPx of [1440, 390]) {
        const open = async () => (await openContext(browser, { url: site.url, theme, widthPx })).newPage();
        const page = await open();
        await signInWithToken(page, site.adminToken);
        for (const [name, visit] of visits.filter(([each]) => isTaken(each, theme, widthPx))) {
          let shown = page;
          await visit(page, seeded, async () => {
            shown = await open();
            return shown;
          });
          await shown.waitForLoadState('networkidle');
          await takePicture(shown, join(values.to, `${name}-${theme}-${widthPx}.webp`));
          count += 1;
          if (shown !== page) await shown.context().close();
        }
        await page.context().close();
      }
    }
  } finally {
    await browser.close();
    await site.stop();
  }
  process.stdout.write(`${JSON.stringify({ pictures: count })}\n`);
}

await main();
