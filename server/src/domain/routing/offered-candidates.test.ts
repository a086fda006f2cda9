import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { offerOf } from './offered-candidates.ts';

describe('the candidates that a request is offered', () => {
  it('are those that are not down in their order, or all of them; never none', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { minLength: 1 }), fc.func(fc.boolean()), (all, draw) => {
        const isDown = (each: number) => draw(each);
        const { offered, skipped } = offerOf(all, isDown);
        assert.ok(offered.length > 0);
        assert.deepEqual(
          offered,
          all.filter((each) => offered.includes(each)),
        );
        if (all.every((each) => isDown(each))) assert.deepEqual([offered, skipped], [all, []]);
        else {
          assert.ok(offered.every((each) => !isDown(each)));
          assert.ok(skipped.every((each) => isDown(each)));
          assert.equal(offered.length + skipped.length, all.length);
        }
      }),
    );
  });
});
