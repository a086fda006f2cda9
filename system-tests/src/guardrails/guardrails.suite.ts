import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { reportFigures } from '../harness/figures.ts';
import type { Cell } from './cell.ts';
import { tableCells } from './cells.ts';
import { checkCell, leaksOf } from './check-cell.ts';
import { limitFaults } from './check-limits.ts';
import { guardrailSlug } from './config.ts';
import { type CellResult, runCell } from './run-cell.ts';
import { boundToAll, type Site, startSite } from './site.ts';
import { specialCells } from './special-cells.ts';
import { type SwitchSite, startSwitchSite, switches, switchOff, switchUnderLoad } from './switch.ts';

// Stage × verdict × failure × mode × operation × streaming × target, judged by the client, the provider's own log, the
// guardrail's, the record, and what the limits show when all is over.

const AT_ONCE = 8;

const cells: ReadonlyMap<string, Cell> = new Map(
  [...tableCells, ...specialCells].map((cell, index) => [`cell-${index}`, cell]),
);
const isGlobal = ({ guards }: Cell) => guards.some(({ target }) => target === 'global');

const figures = { cells: 0, wrong: 0, leaked: 0, switched: 0, dispatched_late: 0, unguarded: 0, failed: 0 };
const results: CellResult[] = [];
let site: Site;

before(async () => {
  site = await startSite(cells);
});
after(() => reportFigures(figures));

async function run(place: string, cell: Cell): Promise<void> {
  figures.cells += 1;
  try {
    const result = await runCell(site, place, cell);
    results.push(result);
    figures.leaked += leaksOf(result);
    checkCell(site, result);
  } catch (error) {
    figures.wrong += 1;
    throw error;
  }
}

describe('the table', () => {
  it('has names that tell its cells apart', () => {
    const names = [...cells.values()].map(({ name }) => name);
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
    assert.ok(names.length >= 150, `${names.length} cells`);
  });
});

describe('a guardrail on a lane, a provider or an endpoint', { concurrency: AT_ONCE }, () => {
  for (const [place, cell] of cells) if (!isGlobal(cell)) it(cell.name, () => run(place, cell));
});

describe('a guardrail on everything', () => {
  for (const [place, cell] of cells) {
    if (isGlobal(cell))
      it(cell.name, () => boundToAll(site, [guardrailSlug(place, 0)], () => run(place, cell)));
  }
});

describe('when all is over', () => {
  it('nothing is reserved, and what was not dispatched counts nowhere', async () => {
    const faults = await limitFaults(site, results);
    figures.wrong += faults.length;
    assert.deepEqual(faults, []);
  });

  it('the guardrail was never sent anything that no gateway may send', () => {
    assert.deepEqual(
      site.guardrails.log.filter(({ violations }) => violations.length > 0),
      [],
    );
  });

  it('a test with a sample is for whoever may change guardrails', async () => {
    const { deployment, guardrailIds } = site;
    const path = `/api/relay/guardrails/${guardrailIds.get(guardrailSlug('cell-0', 0))}/test`;
    const before = site.guardrails.log.length;
    const refused = await fetch(deployment.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Hello.' }),
    });
    assert.ok([401, 403].includes(refused.status), String(refused.status));
    assert.equal(site.guardrails.log.length, before);
    const { status, body } = await deployment.admin.call('POST', path, { text: 'Hello.' });
    assert.equal(status, 200);
    assert.equal((body as { verdict: string }).verdict, 'allowed');
  });
});

describe('a guardrail that is switched on under load at three gateways', () => {
  let switched: SwitchSite;
  before(async () => {
    await site.stop();
    switched = await startSwitchSite();
  });
  after(() => switched.stop());

  for (const [what, on] of Object.entries(switches)) {
    it(`${what}: from a second after the 200 it sees everything that is dispatched, and nothing fails for it`, async () => {
      const outcome = await switchUnderLoad(switched, on);
      await switchOff(switched);
      figures.switched += 1;
      figures.dispatched_late += outcome.dispatchedLate;
      figures.unguarded += outcome.unguarded.length;
      figures.failed += outcome.failed.length;
      const meanwhile = `meanwhile: ${JSON.stringify(outcome.warnings)}`;
      assert.equal(outcome.unguarded.length, 0, meanwhile);
      assert.deepEqual(outcome.failed, []);
      assert.ok(outcome.sent > 250, `${outcome.sent} were sent`);
      assert.ok(outcome.dispatchedLate > 50, `${outcome.dispatchedLate} were dispatched late`);
      // Those who waited when it was switched on are among them.
      assert.ok(outcome.waitedLate > 2, `${outcome.waitedLate} of those in line were dispatched late`);
      assert.deepEqual(
        outcome.waiters.filter(({ status }) => status !== 200),
        [],
      );
      // A stream that waited behind them cannot be inspected.
      assert.deepEqual(
        outcome.streams.map(({ status, code }) => `${status} ${code}`),
        Array(2).fill('400 guardrail_streaming_unsupported'),
      );
    });
  }
});
