import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isCalm, readStateOf } from './read-state.ts';

describe('whether nothing is wrong', () => {
  it('is unknown after a failed read, even when earlier data is shown', () => {
    const failed = readStateOf(true, { data: [], error: new Error('unreachable') });
    assert.equal(failed, 'failed');
    assert.equal(isCalm({ states: ['read', failed], troubles: [0, 0] }), false);
    assert.equal(isCalm({ states: ['read', 'loading'], troubles: [0] }), false);
  });

  it('does not depend on what the caller cannot read', () => {
    const closed = readStateOf(false, { data: undefined, error: null });
    assert.equal(isCalm({ states: ['read', closed], troubles: [0] }), true);
  });

  it('is false with any trouble', () => {
    assert.equal(isCalm({ states: ['read', 'read'], troubles: [0, 1] }), false);
  });
});
