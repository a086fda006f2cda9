import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finish } from '../kit/slices.ts';
import { protocols } from './index.ts';

const TYPICAL = { outputTokens: 100, unseenInputTokens: 0 };
const REST = {
  chat: '"model":"m","messages":[{"role":"user","content":"x"}]',
  responses: '"model":"m","input":"x"',
  messages: '"model":"m","messages":[{"role":"user","content":"x"}]',
};

/** The estimated output of a request with these settings, as JSON text, so that members can be repeated. */
function output(operation: keyof typeof REST, settings: string): number {
  const { request } = protocols[operation];
  const body = finish(
    request.parse(Buffer.from(`{${REST[operation]}${settings === '' ? '' : ','}${settings}}`)),
  );
  return request.estimate(body, TYPICAL).outputTokens;
}

describe('the limit on the output that an estimate counts', () => {
  for (const [operation, settings, tokens] of [
    ['chat', '"max_tokens":5', 5],
    ['chat', '"max_completion_tokens":5', 5],
    ['chat', '"max_completion_tokens":1,"max_tokens":4000', 4_000],
    ['chat', '"max_tokens":1,"max_completion_tokens":4000', 4_000],
    ['responses', '"max_output_tokens":5', 5],
    ['messages', '"max_tokens":5', 5],
    ['chat', '"max_tokens":4e3', 4_000],
  ] as const)
    it(`of ${operation} with ${settings} is ${tokens}`, () => {
      assert.equal(output(operation, settings), tokens);
    });

  it('is lowered only by a field that the operation uses', () => {
    assert.equal(output('chat', '"max_output_tokens":1'), 100);
    assert.equal(output('responses', '"max_tokens":1'), 100);
    assert.equal(output('responses', '"max_completion_tokens":1'), 100);
    assert.equal(output('messages', '"max_completion_tokens":1,"max_output_tokens":1'), 100);
    assert.equal(output('chat', '"Max_Tokens":1'), 100);
  });

  it('is raised by any field that a provider could take for it', () => {
    for (const [operation, own] of [
      ['chat', 'max_tokens'],
      ['responses', 'max_output_tokens'],
      ['messages', 'max_tokens'],
    ] as const)
      for (const other of [
        '"max_new_tokens":4000',
        '"n_predict":4000',
        `"${own.toUpperCase()}":4000`,
        '"max_to\\u212aens":4000',
        '"max_completion_tokens":"4000"',
        '"max_completion_tokens":" 4000 "',
        '"max_completion_tokens":3999.5',
        '"thinking":{"budget_tokens":4000}',
        '"reasoning":{"max_tokens":4000}',
      ])
        assert.equal(output(operation, `"${own}":1,${other}`), 4_000, `${operation} ${other}`);
  });

  it('is the largest of a field that is there twice', () => {
    assert.equal(output('chat', '"max_tokens":4000,"max_tokens":1'), 4_000);
    assert.equal(output('chat', '"max_tokens":1,"max_tok\\u0065ns":4000'), 4_000);
    assert.equal(output('messages', '"max_tokens":4000,"max_tokens":1,"max_tokens":1'), 4_000);
  });

  it('is none where a value bounds nothing: the typical output counts then', () => {
    for (const value of ['0', '-1', 'null', '"1"', '0.5', 'true', '{}', '[1]'])
      assert.equal(output('chat', `"max_tokens":${value}`), 100, value);
    assert.equal(output('chat', '"max_completion_tokens":1,"max_tokens":-1'), 100);
    assert.equal(output('chat', '"max_tokens":-1,"max_tokens":1'), 100);
  });

  it('counts for each choice, however their number is written', () => {
    assert.equal(output('chat', '"max_tokens":5,"n":8'), 40);
    assert.equal(output('chat', '"max_tokens":5,"n":"8"'), 40);
    assert.equal(output('chat', '"max_tokens":5,"n":8,"n":1'), 40);
    assert.equal(output('chat', '"max_tokens":5,"N":8'), 40);
    assert.equal(output('chat', '"max_tokens":5,"best_of":8'), 40);
    assert.equal(output('chat', '"n":8'), 800);
  });

  it('is the most there is where a setting is too large to be read', () => {
    const padded = `"n":"8${' '.repeat(5_000)}"`;
    assert.equal(output('chat', `"x":"${'y'.repeat(70_000)}","max_tokens":5,${padded}`), 1_000_000_000);
  });

  it('has what a client predicts beside it', () => {
    const prediction = `"prediction":{"type":"content","content":"${'word'.repeat(1_000)}"}`;
    assert.ok(output('chat', `"max_tokens":5,${prediction}`) > 1_000);
  });
});
