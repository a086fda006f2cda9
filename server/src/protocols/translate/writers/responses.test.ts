import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { objectOf } from '../../../kit/json-value.ts';
import type { ModelEvent } from '../model-events.ts';
import { eventsIn, inShort, NOW_MS } from './responses/answer-run.fixture.ts';
import { checkResponse } from './responses/stream-rules.fixture.ts';
import { ResponsesWriter } from './responses.ts';

const start: ModelEvent = { kind: 'start', id: 'x', model: 'm', createdS: null };
const stop: ModelEvent = { kind: 'stop', reason: 'end', sequence: null };
const hi: ModelEvent = { kind: 'text', text: 'Hi' };

function writer(request: unknown = {}, requestId = 'req_7'): ResponsesWriter {
  return new ResponsesWriter({ request, model: 'lane', requestId, nowMs: NOW_MS, maker: 'maker' });
}

describe('a writer of Responses', () => {
  it('ends with an error alone when nothing was said before it', () => {
    const made = writer();
    const events = eventsIn(
      made.frames([{ kind: 'error', failure: { type: 'rate_limit_error', message: 'Slow down' } }]),
    );
    assert.deepEqual(events, [
      { type: 'error', sequence_number: 0, code: 'rate_limit_exceeded', message: 'Slow down', param: null },
    ]);
    assert.equal(made.frames([start, hi, stop]), '');
  });

  it('says nothing after its end', () => {
    const made = writer();
    assert.notEqual(made.frames([start, hi, stop]), '');
    assert.equal(made.frames([hi, stop, { kind: 'error', failure: { type: 'x', message: 'y' } }]), '');
  });

  it('says as a body what went wrong before there was an answer', () => {
    assert.deepEqual(
      writer().whole([start, { kind: 'error', failure: { type: 'api_error', message: 'Oh' } }]),
      {
        error: { message: 'Oh', type: 'server_error', param: null, code: 'server_error' },
      },
    );
    assert.deepEqual(writer().whole([start, { kind: 'unknown', what: 'a song' }, stop]), {
      error: {
        message: 'The provider’s response has a song, which cannot be translated.'.replace('’', "'"),
        type: 'server_error',
        param: null,
        code: 'server_error',
      },
    });
  });

  it('keeps connections open with comments, and with events once there was one', () => {
    const kept = writer();
    assert.equal(kept.frames([{ kind: 'ping' }]), ': ping\n\n');
    kept.frames([start]);
    assert.match(
      kept.frames([{ kind: 'ping' }]),
      /^event: keepalive\ndata: {"type":"keepalive","sequence_number":2}\n\n$/,
    );
  });

  it('gives every item an id of the request, and a call without an id one too', () => {
    const call: ModelEvent = { kind: 'tool_call', call: 0, id: '', name: 'read' };
    const response = objectOf(writer({}, '0198-ab').whole([start, hi, call, stop]));
    assert.equal(response['id'], 'resp_0198-ab');
    const [message, called] = [0, 1].map((index) =>
      objectOf(Object.values(objectOf({ ...Object(response['output']) }))[index]),
    );
    assert.equal(message?.['id'], 'msg_0198-ab_0');
    assert.equal(called?.['id'], 'fc_0198-ab_1');
    assert.equal(called?.['call_id'], 'call_0198-ab_1');
  });

  it('counts the time from its own clock when the provider has none, and from the provider’s otherwise', () => {
    assert.equal(objectOf(writer().whole([start, stop]))['created_at'], 1_700_000_000);
    assert.equal(objectOf(writer().whole([{ ...start, createdS: 5 }, stop]))['created_at'], 5);
  });

  it('repeats the settings of the request', () => {
    const asked = {
      instructions: 'Be kind.',
      max_output_tokens: 9,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: 'auto' },
      temperature: 0.5,
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      tool_choice: 'none',
      tools: [{ type: 'custom', name: 'edit' }],
      top_p: 0.9,
      user: 'u',
    };
    const response = objectOf(writer({ ...asked, store: true, model: 'other' }).whole([start, stop]));
    for (const [name, value] of Object.entries(asked)) assert.deepEqual(response[name], value, name);
    assert.equal(response['store'], false);
    assert.equal(response['model'], 'lane');
    checkResponse(response);
    checkResponse(objectOf(writer(null).whole([start, stop])));
  });

  it('begins its stream with the first thing that it is given', () => {
    const events = eventsIn(writer().frames([hi]));
    assert.deepEqual(events.slice(0, 2).map(inShort), ['created', 'in_progress']);
  });

  it('sets thinking apart where the provider does, also without a signature', () => {
    const thought: ModelEvent = { kind: 'thinking', text: 'Hm' };
    const events = eventsIn(writer().frames([start, thought, { kind: 'part_end' }, thought, stop]));
    assert.equal(events.filter(({ type }) => type === 'response.output_item.added').length, 2);
  });
});
