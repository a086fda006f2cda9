import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STREAM_FRAMES, streamFrames, wholeAnswer } from './canned-answers.ts';
import { bigBody, smallBody } from './request-bodies.ts';

describe('what is sent and answered', () => {
  it('has the sizes that figures are quoted for', () => {
    assert.equal(smallBody('fast').length, 1_024);
    assert.equal(wholeAnswer().length, 1_024);
    const { length } = bigBody('fast');
    assert.ok(length <= 256 * 1_024 && length > 254 * 1_024, String(length));
  });

  it('is JSON that names the model first', () => {
    for (const body of [smallBody('fast'), bigBody('fast')])
      assert.equal(Object.keys(JSON.parse(body.toString()) as object)[0], 'model');
  });

  it('streams 200 frames, and one more when usage is asked for', () => {
    assert.deepEqual(
      [streamFrames(false).length, streamFrames(true).length],
      [STREAM_FRAMES, STREAM_FRAMES + 1],
    );
  });
});
