import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findOne } from './find-one.ts';

const kind = { singular: 'lane', plural: 'lanes' };
const all = [
  { id: '01a1de5d-0001', name: 'Fast', slug: 'fast' },
  { id: '01a1de5d-0002', name: 'Fast', slug: 'fast-2' },
  { id: '01b2', name: 'fast-2', slug: 'odd' },
];

describe('findOne', () => {
  it('prefers the ID to the slug and the slug to the name, ignoring case', () => {
    assert.equal(findOne(all, '01b2', kind).slug, 'odd');
    assert.equal(findOne(all, 'fast-2', kind).id, '01a1de5d-0002');
    assert.equal(findOne(all, 'ODD', kind).id, '01b2');
  });

  it('accepts a unique prefix of an ID if it is long enough', () => {
    assert.equal(findOne(all, '01a1de5d-0002', kind).slug, 'fast-2');
    assert.throws(() => findOne(all, '01a1de5d', kind), { exitCode: 2 });
    assert.throws(() => findOne(all, '01b', kind), { exitCode: 4 });
  });

  it('lists several matches, and suggests similar names without a match', () => {
    assert.throws(() => findOne(all, 'Fast', kind), /2 lanes are called Fast/);
    assert.throws(
      () => findOne(all, 'fats', kind),
      (error: { detail: { fix: string } }) => error.detail.fix.startsWith('did you mean fast?'),
    );
  });
});
