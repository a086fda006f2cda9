import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelListOf } from './model-list.ts';

const secret = 'hx7-Qm2PzL9vTrW4';

describe('the models that a test lists', () => {
  it('leaves out ids that carry the secret or are no ids', () => {
    const list = {
      data: [{ id: 'gpt-5' }, { id: `x-${secret}` }, { id: 'a\nb' }, { id: 7 }, { name: 'named' }],
    };
    assert.deepEqual(modelListOf(list, secret), { count: 5, ids: ['gpt-5', 'named'] });
    const many = Array.from({ length: 150 }, (_, i) => ({ id: `model-${i}` }));
    assert.equal(modelListOf(many, secret)?.ids.length, 100);
    assert.equal(modelListOf({ object: 'list' }, secret), null);
    assert.equal(modelListOf('text', secret), null);
  });
});
