import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareFigures, namesOf, readCommitted } from './figures.ts';
import { FIGURES } from './measure-cost.ts';

const COMMITTED = { small: 4, frame: 2, record: 1 };

function dearer(ratios: Readonly<Record<string, number>>, spread = 1): string[] {
  const measured = Object.entries(ratios).map(([name, ratio]) => [name, { ratio, spread }]);
  return namesOf(compareFigures(Object.fromEntries(measured), COMMITTED), 'dearer');
}

describe('the committed figures', () => {
  it('are of every part and every replay', () => {
    assert.deepEqual(Object.keys(readCommitted().ratios), FIGURES);
  });

  it('tolerate a tenth more of a request, and a little less of a part', () => {
    assert.deepEqual(dearer({ small: 4.4, frame: 2.12, record: 0.5 }), []);
    assert.deepEqual(dearer({ small: 4.41, frame: 2, record: 1.07 }), ['small', 'record']);
  });

  it('fail a figure that was not measured', () => {
    assert.deepEqual(dearer({ small: 4, record: 1 }), ['frame']);
  });

  it('judge nothing that the machine disturbed by more', () => {
    assert.deepEqual(dearer({ small: 5, frame: 2, record: 1 }, 1.4), []);
  });
});
