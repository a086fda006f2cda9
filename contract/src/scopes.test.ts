import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { allScopes, expandScopes, type Scope } from './scopes.ts';

const someScopes = fc.subarray([...allScopes]);

describe('expandScopes', () => {
  it('adds the read scope to providers:manage', () => {
    assert.deepEqual(expandScopes(['relay:providers:manage']), [
      'relay:providers:read',
      'relay:providers:manage',
    ]);
  });

  it('adds the organization read to limits:manage', () => {
    assert.deepEqual(expandScopes(['relay:limits:manage']), [
      'relay:limits:read:organization',
      'relay:limits:manage',
    ]);
  });

  it('gives every manage scope whose read exists that read', () => {
    for (const scope of allScopes.filter((name) => name.endsWith(':manage'))) {
      const read = scope.replace(/manage$/, 'read');
      const reads = allScopes.filter((name) => name === read || name.startsWith(`${read}:`));
      const expanded: Scope[] = expandScopes([scope]);
      for (const name of reads) assert.ok(expanded.includes(name), `${scope} lacks ${name}`);
    }
  });

  it('keeps what was given, adds no manage scope, repeats nothing, and expanding again changes nothing', () => {
    fc.assert(
      fc.property(someScopes, (list) => {
        const expanded = expandScopes([...list, ...list]);
        assert.ok(list.every((scope) => expanded.includes(scope)));
        assert.equal(new Set(expanded).size, expanded.length);
        assert.ok(expanded.every((scope) => list.includes(scope) || !scope.endsWith(':manage')));
        assert.deepEqual(expandScopes(expanded), expanded);
      }),
    );
  });
});
