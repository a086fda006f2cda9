import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayError } from '../../domain/relay-error.ts';
import { demandMatch, entityTag } from './entity-tag.ts';

const ROW = { version: 7 };

describe('If-Match', () => {
  const cases: [header: string | undefined, matches: boolean][] = [
    [undefined, true],
    ['*', true],
    [' * ', true],
    ['"7"', true],
    ['"6", "7"', true],
    ['"6","7" , "8"', true],
    ['"6"', false],
    ['"6", "8"', false],
    ['"77"', false],
    ['7', false],
    // A weak tag never matches here (RFC 9110, 13.1.1).
    ['W/"7"', false],
    ['"6", *', false],
    ['', false],
    [',', false],
  ];
  for (const [header, matches] of cases) {
    it(`${header === undefined ? 'that is not sent' : JSON.stringify(header)} ${matches ? 'matches' : 'does not match'} "7"`, () => {
      const demand = () => demandMatch((name) => (name === 'if-match' ? header : undefined), ROW);
      if (matches) demand();
      else
        assert.throws(demand, (error: unknown) => {
          assert.ok(error instanceof RelayError);
          assert.deepEqual([error.code, error.detail.headers], ['version_conflict', { ETag: '"7"' }]);
          return true;
        });
    });
  }

  it('changes with each part, whatever their order', () => {
    const parts = [
      { id: 'a', version: 1 },
      { id: 'b', version: 1 },
    ];
    const tag = entityTag(ROW, parts);
    assert.equal(entityTag(ROW, [...parts].reverse()), tag);
    const others = [
      parts.slice(1),
      [...parts, { id: 'c', version: 1 }],
      [{ id: 'a', version: 2 }, ...parts.slice(1)],
      [],
    ].map((each) => entityTag(ROW, each));
    assert.equal(new Set([tag, entityTag({ version: 8 }, parts), ...others]).size, 6);
  });
});
