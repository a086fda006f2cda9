import { accessSync, constants } from 'node:fs';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser that is missing is a failure: without one these tests show nothing. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = process.env['RELAY_CHROMIUM'] ?? PLACES.find(isExecutable);
  if (executablePath === undefined)
    throw new Error(`no Chromium at ${PLACES.join(', ')}; install it (apt-get install chromium)`);
  return chromium.launch({ executablePath, args: FLAGS, headless: true });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export type Theme = 'light' | 'dark';

export interface ContextSetup {
  readonly url: string;
  readonly theme: Theme;
  readonly widthPx: number;
}

/** A browser profile of its own. Dates and numbers are those of one place, so that pictures do not differ by machine. */
export function openContext(browser: Browser, setup: ContextSetup): Promise<BrowserContext> {
  return browser.newContext({
    baseURL: setup.url,
    colorScheme: setup.theme,
    viewport: { width: setup.widthPx, height: setup.widthPx < 600 ? 844 : 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
}
