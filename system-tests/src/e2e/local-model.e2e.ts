import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ProviderSim } from '@relay/provider-sim';
import { launchChromium, openContext } from '@relay/testbed';
import type { Browser, Page } from 'playwright-core';
import { reportFigures } from '../harness/figures.ts';
import { type LocalRelay, startLocal, startOllama } from '../harness/start-local.ts';
import { inspect, newFindings, watch } from './visit.ts';

/** From an empty folder to the first answer of a model on this machine: one command, its link, and one click. */
describe('a model on this machine, in the console', () => {
  const findings = newFindings();
  let ollama: ProviderSim;
  let relay: LocalRelay;
  let browser: Browser;
  let page: Page;

  before(async () => {
    [ollama, browser] = await Promise.all([startOllama(), launchChromium()]);
    relay = await startLocal(['--detect'], { OLLAMA_HOST: `127.0.0.1:${ollama.port}` });
    const context = await openContext(browser, { url: relay.url, theme: 'light', widthPx: 1440 });
    page = await context.newPage();
    watch(page, findings);
  });
  after(async () => {
    reportFigures({ pages: findings.pages.size, axe_violations: findings.violations.length });
    await browser?.close();
    await relay?.stop();
    await ollama?.close();
  });

  it('the printed link opens the playground signed in, and keeps the token out of the address', async () => {
    const printed = await relay.untilPrinted(/Playground .*\n/);
    const link = /Playground\s+(\S+)/.exec(printed)?.[1] ?? '';
    await page.goto(link);
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
    assert.ok(!page.url().includes('relay-admin-'), page.url());
    await inspect(page, 'playground', findings);
  });

  it('one click gives the first answer', async () => {
    await page.getByLabel('Message', { exact: true }).fill('Hello');
    await page.getByRole('button', { name: 'Send request', exact: true }).click();
    await ollama.waitFor(({ model, outcome }) => model === 'llama3.2' && outcome === 'completed');
    await page.getByText('Upstream model').waitFor();
    await inspect(page, 'playground, answered', findings);
  });

  it('the home page knows that it is set up', async () => {
    await page.goto('/console/');
    await page.getByRole('heading', { name: 'Traffic' }).waitFor();
    assert.deepEqual(findings.violations, []);
    assert.deepEqual(findings.complaints, []);
  });
});
