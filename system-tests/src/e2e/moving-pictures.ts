// `npm run moving-pictures [-- --to DIRECTORY]`: builds the console, runs `relay start --demo` with its own traffic, and records
// the README's two animations. Needs img2webp (Debian: webp).
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { launchChromium } from '@relay/testbed';
import type { Page } from 'playwright-core';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { type LocalRelay, startLocal } from '../harness/start-local.ts';
import { buildConsole } from './build-console.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SIZE = { width: 1200, height: 720 };
const BYTES_MAX = 400_000;
const REQUESTS = { count: '600', perSecond: '20' };
const QUALITY = '62';

interface Frame {
  readonly path: string;
  readonly shownMs: number;
}

interface Film {
  shoot(shownMs: number): Promise<void>;
  write(path: string): number;
}

function film(page: Page, directory: string): Film {
  const frames: Frame[] = [];
  return {
    async shoot(shownMs) {
      const path = join(directory, `${String(frames.length).padStart(3, '0')}.png`);
      await page.screenshot({ path, animations: 'disabled' });
      frames.push({ path, shownMs });
    },
    write(path) {
      const pictures = frames.flatMap((frame) => [
        '-d',
        String(frame.shownMs),
        '-lossy',
        '-q',
        QUALITY,
        frame.path,
      ]);
      execFileSync('img2webp', ['-loop', '0', '-min_size', ...pictures, '-o', path], { stdio: 'ignore' });
      const { size } = statSync(path);
      if (size > BYTES_MAX) throw new Error(`${path} has ${size} bytes, more than ${BYTES_MAX}`);
      return size;
    },
  };
}

/** Requests moving through the lanes, a frame each second. */
async function filmLive(page: Page, { shoot }: Film): Promise<void> {
  await page.goto('/console/live');
  await page
    .getByText(/in flight/)
    .first()
    .waitFor();
  for (let second = 0; second < 14; second += 1) {
    await shoot(700);
    await wait(700);
  }
}

/** From the list of requests to the trace of one that fell back, down to its end. */
async function filmRequest(page: Page, { shoot }: Film, requestId: string): Promise<void> {
  await page.goto('/console/requests');
  const link = page.locator(`a[href*="${requestId}"]`).first();
  await page.getByRole('row').nth(3).waitFor();
  await shoot(1_200);
  if (await link.isVisible()) {
    await link.hover();
    await shoot(600);
    await link.click();
  } else await page.goto(`/console/requests/${requestId}`);
  await page.getByText('Attempt 2').first().waitFor();
  await shoot(2_500);
  const bottomPx = Number(await page.evaluate('document.documentElement.scrollHeight - window.innerHeight'));
  for (let step = 1; step <= 6; step += 1) {
    await page.evaluate(`window.scrollTo(0, ${(bottomPx * step) / 6})`);
    await shoot(step === 6 ? 2_500 : 250);
  }
}

interface LogEntry {
  readonly request_id: string;
  readonly state: string;
  readonly wait_ms: number;
  readonly fallback_count: number;
}

/** The completed request that fell back and waited longest. */
async function findFallback(relay: LocalRelay, adminToken: string): Promise<string> {
  const response = await fetch(`${relay.url}/api/relay/requests?limit=200`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const { data } = (await response.json()) as { readonly data: readonly LogEntry[] };
  const [found] = data
    .filter(({ state, fallback_count }) => state === 'completed' && fallback_count > 0)
    .sort((a, b) => b.wait_ms - a.wait_ms);
  if (found === undefined) throw new Error('no request of the demo fell back');
  return found.request_id;
}

async function record(relay: LocalRelay, to: string, frames: string): Promise<Record<string, number>> {
  const printed = await relay.untilPrinted(/Ctrl\+C/);
  const adminToken = /relay-admin-[\w-]+/.exec(printed)?.[0] ?? '';
  const browser = await launchChromium();
  const traffic = spawn(
    process.execPath,
    [RELAY_ENTRY, 'demo', 'traffic', '--requests', REQUESTS.count, '--per-second', REQUESTS.perSecond],
    { cwd: relay.folder, env: { ...bareEnvironment(), HOME: relay.folder }, stdio: 'ignore' },
  );
  const ended = once(traffic, 'exit');
  try {
    const context = await browser.newContext({
      baseURL: relay.url,
      viewport: SIZE,
      colorScheme: 'light',
      locale: 'en-US',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await page.goto(/http\S+#sign_in=\S+/.exec(printed)?.[0] ?? '');
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await wait(6_000);
    const live = film(page, mkdtempSync(join(frames, 'live-')));
    await filmLive(page, live);
    const request = film(page, mkdtempSync(join(frames, 'request-')));
    await filmRequest(page, request, await findFallback(relay, adminToken));
    return {
      live_bytes: live.write(join(to, 'live.webp')),
      request_bytes: request.write(join(to, 'request.webp')),
    };
  } finally {
    traffic.kill();
    await ended;
    await browser.close();
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { to: { type: 'string', default: join(ROOT, 'docs/pictures') } },
  });
  buildConsole(ROOT);
  mkdirSync(values.to, { recursive: true });
  const frames = mkdtempSync(join(tmpdir(), 'relay-frames-'));
  const relay = await startLocal(['--demo'], {});
  try {
    process.stdout.write(`${JSON.stringify(await record(relay, values.to, frames))}\n`);
  } finally {
    await relay.stop();
    rmSync(frames, { recursive: true, force: true });
  }
}

await main();
