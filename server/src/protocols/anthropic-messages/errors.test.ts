import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anthropicErrors } from './errors.ts';

describe('a messages request that no candidate can serve', () => {
  it('says that threads are unsupported, in the words after which Anthropic’s SDK sends the whole history', () => {
    const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
    assert.deepEqual(anthropicErrors.unserved({ thread: { type: 'create' } }), { details });
    assert.deepEqual(anthropicErrors.unserved({ thread: null }), {});
    assert.deepEqual(anthropicErrors.unserved({}), {});
  });
});
