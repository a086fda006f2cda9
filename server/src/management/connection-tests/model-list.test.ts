import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelListOf } from './model-list.ts';

const secret = 'hx7-Qm2PzL9vTrW4';

describe('the models that a test lists', () => {
  it('leaves out ids that carry the secret or are no ids', () => {
    const list = {
      data: [{ id: 'gpt-5' }, { id: `x-${secret}` }, { id: 'a\nb' }, { id: 7 }, { name: 'named' }],
    };
    assert.deepEqual(modelListOf([list], secret), { count: 5, ids: ['gpt-5', 'named'] });
    const many = Array.from({ length: 1_150 }, (_, i) => ({ id: `model-${i}` }));
    assert.equal(modelListOf([many], secret)?.ids.length, 1_000);
    assert.equal(modelListOf([{ object: 'list' }], secret), null);
    assert.equal(modelListOf(['text'], secret), null);
  });

  it('begins with the newest of all pages, and ends with those whose age is unknown', () => {
    const first = { data: [{ id: 'plain' }, { id: 'old', created: 1_700_000_000 }] };
    const second = {
      data: [
        { id: 'odd', created_at: 'soon' },
        { id: 'new', created_at: '2026-05-01T00:00:00Z' },
      ],
    };
    assert.deepEqual(modelListOf([first, second], null)?.ids, ['new', 'old', 'plain', 'odd']);
    assert.deepEqual(modelListOf([first, 'cut'], null), { count: 2, ids: ['old', 'plain'] });
  });
});
