import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRedisUrls } from './redis-urls.ts';

describe('parseRedisUrls', () => {
  it('takes one URL as it is', () => {
    assert.deepEqual(parseRedisUrls('redis://127.0.0.1:6379/3'), ['redis://127.0.0.1:6379/3']);
    assert.deepEqual(parseRedisUrls('rediss://user:word@cache.example'), [
      'rediss://user:word@cache.example',
    ]);
  });

  it('takes the nodes of a cluster with commas between', () => {
    assert.deepEqual(parseRedisUrls('redis://a:1, redis://b:2/0'), ['redis://a:1', 'redis://b:2/0']);
  });

  it('says what is wrong with any of them', () => {
    for (const text of ['', 'http://a', 'redis://a,', 'redis://a,nonsense'])
      assert.throws(() => parseRedisUrls(text), /must be a URL starting with redis:\/\//);
    assert.throws(() => parseRedisUrls('redis://a,rediss://b'), /same scheme and credentials/);
    assert.throws(() => parseRedisUrls('redis://:x@a,redis://:y@b'), /same scheme and credentials/);
    assert.throws(() => parseRedisUrls('redis://a/1,redis://b/1'), /must not name a database/);
  });
});
