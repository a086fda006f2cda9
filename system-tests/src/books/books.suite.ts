import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { createRandom } from '@relay/testbed/random';
import { reportFigures } from '../harness/figures.ts';
import { reconcileAll } from './against-bill.ts';
import { sumsOff } from './closing.ts';
import { lossSituations, runLosses } from './losses.ts';
import { startBilledProvider } from './provider.ts';
import { type Books, runSituations } from './run-situations.ts';
import { type Site, startSite } from './site.ts';
import { allSituations, sampleOf } from './situations.ts';
import { startLoser } from './small-site.ts';

// How a provider ends × what it reported before × how the request was asked × what follows × hard limits or not.

const WORKERS = 7;
const SHORT = 250;
const RECONCILED = 10_000;
const SEED = Number(process.env['RELAY_BOOKS_SEED'] ?? '1');
/** Only situations whose name matches. */
const ONLY = process.env['RELAY_BOOKS_ONLY'];

const figures = { situations: 0, wrong: 0, requests: 0, attempts: 0, sum_off: 0, seed: SEED };

after(() => reportFigures(figures));

describe('how providers end', () => {
  let site: Site;
  let books: Books;

  before(async () => {
    site = await startSite(WORKERS);
  });
  after(async () => {
    await site?.stop();
  });

  it('every limit is the sum of the attempts and of the row, what was reported is counted, and what was not sent costs nothing', async () => {
    const { next: random } = createRandom(SEED);
    const all = allSituations(random);
    const matching = ONLY === undefined ? all : all.filter(({ name }) => new RegExp(ONLY).test(name));
    const chosen = IS_LONG || ONLY !== undefined ? matching : sampleOf(matching, SHORT, random);
    books = await runSituations(site, chosen);
    const wrong = books.judged.filter(({ faults }) => faults.length > 0);
    figures.situations += chosen.length;
    figures.requests = books.requests;
    figures.attempts = books.seen;
    figures.wrong += wrong.length;
    for (const { situation, faults, said } of wrong)
      process.stdout.write(`WRONG ${situation.name}\n  ${faults.join('\n  ')}\n  ${said}\n`);
    assert.equal(wrong.length, 0, `seed ${SEED}`);
  });

  it('statistics, statements and the limits of the organization are the sums of all attempts', async () => {
    const off = await sumsOff(site.deployment.admin, books);
    figures.sum_off = off.length;
    for (const each of off) process.stdout.write(`OFF ${each}\n`);
    assert.deepEqual(off, []);
  });
});

for (const kind of ['relay start', 'two gateways'] as const) {
  describe(`a loss of live state: ${kind}`, () => {
    const outcomes = new Map<string, unknown>();

    before(async () => {
      const [loser, provider] = await Promise.all([startLoser(kind), startBilledProvider()]);
      try {
        for (const [name, error] of await runLosses(loser, provider)) outcomes.set(name, error);
      } finally {
        await loser.deployment.stop();
        await provider.close();
      }
    });

    for (const { name } of lossSituations)
      it(name, () => {
        figures.situations += 1;
        const error = outcomes.get(name);
        if (error === undefined) return;
        figures.wrong += 1;
        throw error;
      });
  });
}

if (IS_LONG)
  describe('a provider’s export', () => {
    it('has the same requests, tokens and money as the ledger, although three in ten requests failed', async () => {
      const { missing, differences, micros, requests, failed, said } = await reconcileAll(RECONCILED, SEED);
      Object.assign(figures, {
        reconciled: requests,
        reconciled_failed: failed,
        missing,
        micros_apart: micros,
      });
      assert.deepEqual({ missing, differences, micros }, { missing: 0, differences: 0, micros: 0 }, said);
    });
  });
