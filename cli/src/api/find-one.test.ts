import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findOne, findOneOrOnly } from './find-one.ts';

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

  it('needs no name for the only one', () => {
    assert.equal(findOneOrOnly(all.slice(2), undefined, kind).id, '01b2');
    assert.equal(findOneOrOnly(all, 'odd', kind).id, '01b2');
    assert.throws(() => findOneOrOnly(all, undefined, kind), /There are 3 lanes\. Name one/);
    assert.throws(() => findOneOrOnly([], undefined, kind), { exitCode: 4, message: 'No lanes yet.' });
  });

  it('lists several matches, and suggests similar names without a match', () => {
    assert.throws(() => findOne(all, 'Fast', kind), /2 lanes are named "Fast"/);
    assert.throws(
      () => findOne(all, 'fats', kind),
      (error: { detail: { fix: string } }) => error.detail.fix.startsWith('Did you mean fast?'),
    );
  });
});
