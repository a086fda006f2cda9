import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { saysHowItEnded } from './stream-ends.ts';

describe('how a stream ended', () => {
  const messages = 'event: message_delta\ndata: {"type":"message_delta"}\n\n';
  const chat = 'data: {"choices":[]}\r\n\r\n';

  it('is told by the last event of each operation', () => {
    const stop = `${messages}event: message_stop\ndata: {"type":"message_stop"}\n\n`;
    assert.ok(saysHowItEnded('createMessage', stop));
    assert.ok(saysHowItEnded('createChatCompletion', `${chat}data: [DONE]\r\n\r\n`));
    assert.ok(saysHowItEnded('createResponse', 'event: response.incomplete\ndata: {}\n\n'));
  });

  it('is told by an error in any of them', () => {
    const error = 'event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n';
    for (const operation of ['createMessage', 'createChatCompletion', 'createResponse'] as const)
      assert.ok(saysHowItEnded(operation, error));
  });

  it('is not told by a stream that only stops, or by the end of another operation', () => {
    assert.ok(!saysHowItEnded('createMessage', messages));
    assert.ok(!saysHowItEnded('createMessage', `${messages}data: [DONE]\n\n`));
    assert.ok(!saysHowItEnded('createChatCompletion', chat));
    assert.ok(!saysHowItEnded('createChatCompletion', 'data: {"choices":"the text [DONE]"}\n\n'));
  });
});
