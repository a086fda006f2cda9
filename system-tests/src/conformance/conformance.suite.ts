import { after, before, describe, it } from 'node:test';
import { reportFigures } from '../harness/figures.ts';
import { type Mode, modes } from './mode.ts';
import { type Site, startSite } from './site.ts';
import { failureOf } from './statement.ts';
import { statements } from './statements.ts';

// The specification, walked from outside in every mode: one test for each statement that can be checked.

const figures = { statements: 0, failing: 0, by_mode: {} as Record<string, number> };

after(() => reportFigures(figures));

describe('conformance', { concurrency: true }, () => {
  for (const mode of modes) describe(mode.name, { concurrency: 1 }, () => walkIn(mode));
});

function walkIn(mode: Mode): void {
  let site: Site;
  before(async () => {
    site = await startSite(mode);
  });
  after(() => site?.stop());

  for (const statement of statements.filter(({ appliesIn }) => appliesIn(mode))) {
    figures.statements += 1;
    figures.failing += 1;
    figures.by_mode[mode.name] = (figures.by_mode[mode.name] ?? 0) + 1;
    it(`${statement.id} ${statement.says}`, async () => {
      try {
        await statement.check(site);
      } catch (error) {
        throw failureOf(statement, error);
      }
      figures.failing -= 1;
    });
  }
}
