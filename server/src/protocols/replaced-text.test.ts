import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatText } from './openai-chat/text.ts';
import { responsesText } from './openai-responses/text.ts';

describe('an answer whose text was replaced', () => {
  it('says the replacement in every choice, and nothing of the words is left', () => {
    const answer = {
      id: 'c',
      object: 'chat.completion',
      model: 'gpt',
      usage: { total_tokens: 3 },
      words: 'secret',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'secret' }, logprobs: { content: ['secret'] } },
        {
          index: 1,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: 'secret',
            tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '"secret"' } }],
          },
        },
      ],
    };
    const replaced = chatText.replace(answer, 'withheld');
    assert.equal(JSON.stringify(replaced).includes('secret'), false);
    assert.equal(chatText.ofAnswer(replaced).text, 'withheld\nwithheld');
    assert.deepEqual((replaced as typeof answer).usage, { total_tokens: 3 });
    assert.deepEqual(Object.keys((replaced as typeof answer).choices[1] ?? {}), [
      'index',
      'message',
      'logprobs',
      'finish_reason',
    ]);
  });

  it('keeps the messages of a response and drops every other item', () => {
    const answer = {
      id: 'r',
      usage: { total_tokens: 3 },
      output_text: 'secret',
      output: [
        { type: 'reasoning', id: 'a', summary: [{ type: 'summary_text', text: 'secret' }] },
        { type: 'message', id: 'b', role: 'assistant', content: [{ type: 'output_text', text: 'secret' }] },
        { type: 'function_call', id: 'c', name: 'f', arguments: '"secret"' },
      ],
    };
    const replaced = responsesText.replace(answer, 'withheld') as typeof answer;
    assert.equal(JSON.stringify(replaced).includes('secret'), false);
    assert.deepEqual(
      replaced.output.map(({ id }) => id),
      ['b'],
    );
    assert.equal(replaced.output_text, 'withheld');
    assert.equal(responsesText.ofAnswer(replaced).text, 'withheld');
  });

  it('says the replacement where there were only tool calls', () => {
    const answer = { output: [{ type: 'function_call', id: 'c', arguments: '"secret"' }] };
    const replaced = responsesText.replace(answer, 'withheld');
    assert.equal(responsesText.ofAnswer(replaced).text, 'withheld');
  });
});
