import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { specRuleIds, specRules } from '@relay/contract/specification';
import { reportFigures } from '../harness/figures.ts';
import { type Mode, modes } from './mode.ts';
import { notCheckable } from './not-checkable.ts';
import { isCaught, plants } from './planted.ts';
import { type Site, startSite } from './site.ts';
import { failureOf, type Statement } from './statement.ts';
import { decisions, lastStatements, statements } from './statements.ts';

// The specification, walked from outside in every mode: one test for each statement that can be checked.

interface Count {
  statements: number;
  failing: number;
}

const figures = {
  statements: 0,
  failing: 0,
  by_mode: {} as Record<string, number>,
  planted: 0,
  decisions: { statements: 0, failing: 0 },
};

after(() => reportFigures(figures));

const all = [...statements, ...decisions, ...lastStatements];

describe('the statements', () => {
  it('cover every sentence of the specification that can be checked', () => {
    const cited = new Set(all.map(({ quote }) => quote));
    const missed = specRuleIds.filter((id) => !cited.has(specRules[id]) && notCheckable[id] === undefined);
    assert.deepEqual(missed, []);
    const needless = specRuleIds.filter((id) => cited.has(specRules[id]) && notCheckable[id] !== undefined);
    assert.deepEqual(needless, []);
  });

  it('are each told apart by name', () => {
    const names = all.map(({ id, says }) => `${id} ${says}`);
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });
});

describe('conformance', { concurrency: true }, () => {
  for (const mode of modes) describe(mode.name, { concurrency: 1 }, () => walkIn(mode));
});

/** Deviations that are put into the answers are noticed, so a statement that holds says something. */
function plantIn(siteOf: () => Site): void {
  for (const plant of plants) {
    it(`planted: ${plant.name}`, async () => {
      const found = statements.find(({ id, says }) => `${id} ${says}`.startsWith(plant.caughtBy));
      assert.ok(found, `no statement begins with "${plant.caughtBy}"`);
      assert.ok(await isCaught(siteOf(), found, plant), `"${plant.caughtBy}" did not notice`);
      figures.planted += 1;
    });
  }
}

function walkIn(mode: Mode): void {
  let site: Site;
  before(async () => {
    site = await startSite(mode);
  });
  after(() => site?.stop());

  const inMode = (list: readonly Statement[]) => list.filter(({ appliesIn }) => appliesIn(mode));
  const check = (statement: Statement, count: Count) => {
    count.statements += 1;
    count.failing += 1;
    it(`${statement.id} ${statement.says}`, async () => {
      try {
        await statement.check(site);
      } catch (error) {
        throw failureOf(statement, error);
      }
      count.failing -= 1;
    });
  };
  if (mode.accounts && !mode.hosted) plantIn(() => site);
  for (const statement of inMode(statements)) check(statement, figures);
  for (const statement of inMode(decisions)) check(statement, figures.decisions);
  for (const statement of inMode(lastStatements)) check(statement, figures);
  figures.by_mode[mode.name] = inMode([...statements, ...lastStatements]).length;
}
