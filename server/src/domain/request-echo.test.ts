import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { echoesRequest } from './request-echo.ts';

const request = (content: string) => ({
  model: 'gpt-4o-2024-08-06',
  messages: [{ role: 'user', content }],
  tools: [
    { type: 'function', function: { name: 'look_up', description: 'Finds the account of a customer' } },
  ],
});

describe('an echo of a request', () => {
  it('is found wherever a part of the prompt stands, in any case, spacing and escaping', () => {
    const prompt = 'The patient Ada Lovelace, born 1815, has a “fever”.';
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom(
          (part: string) => part,
          (part: string) => part.toUpperCase(),
          (part: string) => JSON.stringify(part),
          (part: string) => part.replaceAll(' ', '\n'),
        ),
        (before, after, from, write) => {
          const said = `${before} ${write(prompt.slice(from, from + 24))} ${after}`;
          assert.equal(echoesRequest(said, request(prompt)), true, said);
        },
      ),
    );
  });

  it('is found in every other text of the request too, and as a whole in a short prompt', () => {
    assert.equal(echoesRequest('no tool finds the account of anybody', request('x')), true);
    assert.equal(echoesRequest('You said hunter2.', request('Hunter2')), true);
    for (const word of ['123-45-6789', '483920', 'zebra-42!', 'Lovelace'])
      assert.equal(echoesRequest(`Denied ${word}`, request(`Ada ${word} and more words`)), true, word);
  });

  it('is found in a run of letters that is no whole word of either', () => {
    const request = { model: 'm', messages: [{ role: 'user', content: 'xyzabcdefghijklm' }] };
    assert.ok(echoesRequest('The value qqabcdefghijklqq was refused.', request));
    assert.ok(!echoesRequest('The value qqabcdefghiqq was refused.', request));
  });

  it('is not an ordinary message, one that names the model, or words that every request has', () => {
    const plain = request('Translate this poem into French.');
    for (const said of [
      'Incorrect API key provided: [redacted]. You can find your API key in your account.',
      'Project does not have access to model gpt-4o-2024-08-06.',
      'You exceeded your current quota, please check your plan and billing details.',
      'This user has no function in the system.',
    ])
      assert.equal(echoesRequest(said, plain), false, said);
  });

  it('survives a request of any depth', () => {
    let deep: unknown = 'a secret sentence of the request';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    assert.equal(echoesRequest('a secret sentence of the request', deep), true);
  });
});
