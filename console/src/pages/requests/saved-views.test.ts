import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewsIn, withView } from './saved-views.ts';

test('views come back as they were stored', () => {
  const view = {
    name: 'Refused',
    filters: { state: 'failed', error: 'rate_limited', waited: true, fell_back: false },
    range: { range: '7d' },
  } as const;
  assert.deepEqual(viewsIn(JSON.stringify(withView([], view))), [view]);
});

test('invalid stored data is ignored', () => {
  for (const stored of [null, '', '{', '{}', '[null,1,{"name":4}]']) assert.deepEqual(viewsIn(stored), []);
  assert.deepEqual(viewsIn('[{"name":"a","filters":{"state":"odd"}}]'), [
    { name: 'a', filters: {}, range: {} },
  ]);
});

test('a view replaces one of the same name', () => {
  const views = withView([{ name: 'a', filters: {}, range: {} }], {
    name: 'a',
    filters: { model: 'm' },
    range: {},
  });
  assert.deepEqual(views, [{ name: 'a', filters: { model: 'm' }, range: {} }]);
});
