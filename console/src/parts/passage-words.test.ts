import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isUnchanged, passageWords } from './passage-words.ts';

describe('the words for how a request reaches a provider', () => {
  it('name both protocols and the fields left out', () => {
    const translated = { translated_to: 'chat', left_out: ['cache_control', 'metadata.user_id'] } as const;
    assert.equal(
      passageWords('messages', translated),
      'Translated from Messages to Chat. Omitted: cache_control, metadata.user_id',
    );
    assert.equal(
      passageWords('chat', { ...translated, translated_to: 'messages', left_out: [] }),
      'Translated from Chat to Messages',
    );
    assert.equal(isUnchanged(translated), false);
  });

  it('tell a request that is passed through as it is from one that lacks a field', () => {
    const lacking = { translated_to: null, left_out: ['stream_options'] };
    assert.equal(passageWords('chat', lacking), 'Passed through. Omitted: stream_options');
    assert.equal(isUnchanged(lacking), false);
    const unchanged = { translated_to: null, left_out: [] };
    assert.equal(passageWords('chat', unchanged), 'Passed through');
    assert.equal(isUnchanged(unchanged), true);
  });
});
