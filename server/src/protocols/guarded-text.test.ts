import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatText as chat } from './openai-chat/text.ts';
import { responsesText as responses } from './openai-responses/text.ts';

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

describe('what a guardrail is shown', () => {
  it('is every message of a chat: parts, tool calls and their results', () => {
    const shown = chat.ofRequest({
      messages: [
        { role: 'system', content: 'rules' },
        { role: 'user', content: [{ type: 'text', text: 'look' }, image, { type: 'text', text: 'here' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"q":"x"}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'found' },
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
      ],
    });
    assert.deepEqual(shown.messages, [
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'look\nhere' },
      { role: 'assistant', content: '{"q":"x"}' },
      { role: 'tool', content: 'found' },
    ]);
    assert.equal(shown.text, 'rules\nlook\nhere\n{"q":"x"}\nfound');
    assert.equal(shown.skippedParts, 2);
  });

  it('says how many parts it is not shown because they nest too deep', () => {
    let content: unknown = 'deep';
    for (let level = 0; level < 300; level += 1) content = [content];
    const shown = chat.ofRequest({
      messages: [
        { role: 'user', content },
        { role: 'user', content: 'flat' },
      ],
    });
    assert.deepEqual([shown.text, shown.skippedParts], ['flat', 1]);
  });

  it('is the input of a response as a string or as items, and its instructions', () => {
    assert.equal(responses.ofRequest({ instructions: 'be kind', input: 'hello' }).text, 'be kind\nhello');
    const shown = responses.ofRequest({
      input: [
        'plain',
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_file', file_data: 'AAAA' },
          ],
        },
        { type: 'function_call', name: 'f', arguments: '{"q":1}', call_id: 'c' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'b' }] },
        { type: 'item_reference', id: 'i' },
      ],
      prompt: { id: 'p', variables: { city: 'Oslo', file: { type: 'input_text', text: 'c' } } },
    });
    assert.deepEqual(shown.messages, [
      { role: 'user', content: 'plain' },
      { role: 'user', content: 'a' },
      { role: 'assistant', content: '{"q":1}' },
      { role: 'tool', content: 'b' },
      { role: 'user', content: 'Oslo\ninput_text\nc' },
    ]);
    assert.equal(shown.skippedParts, 2);
  });

  it('is every choice of a chat answer, refusals and arguments included', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"q":"x"}' } };
    const shown = chat.ofAnswer({
      choices: [
        { index: 0, message: { role: 'assistant', content: 'one', refusal: null } },
        { index: 1, message: { role: 'assistant', content: null, refusal: 'no', tool_calls: [call] } },
      ],
    });
    assert.deepEqual(
      shown.messages.map(({ content }) => content),
      ['one', 'no\n{"q":"x"}'],
    );
  });

  it('is every output item of a response', () => {
    const shown = responses.ofAnswer({
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'thought' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'said' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'refused' }] },
        { type: 'function_call', name: 'f', arguments: '{}', call_id: 'c' },
        { type: 'image_generation_call', result: 'AAAA' },
      ],
    });
    assert.equal(shown.text, 'thought\nsaid\nrefused\n{}');
    assert.equal(shown.skippedParts, 1);
  });

  it('is nothing, and no failure, where a body has none of it', () => {
    for (const body of [null, 7, [], {}, { messages: 7 }, { choices: [null] }]) {
      assert.equal(chat.ofRequest(body).text, '');
      assert.equal(chat.ofAnswer(body).text, '');
    }
  });
});
