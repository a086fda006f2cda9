import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTypicalUse, type TypicalUse } from './typical-use.ts';

const HOUR_MS = 3_600_000;

describe('what is typical', () => {
  let nowMs = 0;
  const create = () => createTypicalUse({ monotonicMs: () => nowMs });
  const output = (typical: TypicalUse, name = 'lane', organization = 'acme') =>
    typical.of(organization, name).outputTokens;
  const learn = (typical: TypicalUse, tokens: number, times = 1, name = 'lane') => {
    for (let each = 0; each < times; each += 1) typical.learn('acme', name, 'outputTokens', tokens, true);
  };

  it('is a guess until something is learned', () => {
    const typical = create();
    assert.equal(output(typical), 256);
    learn(typical, 4_000);
    assert.ok(output(typical) > 2_000);
    assert.equal(output(typical, 'another lane'), 256);
    assert.equal(typical.of('acme', 'lane').unseenInputTokens, 4_096);
  });

  it('follows large answers quickly', () => {
    const typical = create();
    learn(typical, 4_000, 4);
    assert.ok(output(typical) > 3_700, String(output(typical)));
  });

  it('is not lowered by an answer that reports nothing, however long ago the last one was', () => {
    const typical = create();
    learn(typical, 4_000, 10);
    const before = output(typical);
    nowMs += HOUR_MS;
    learn(typical, 0);
    assert.equal(output(typical), before);
  });

  it('is hardly lowered by hundreds of small answers', () => {
    const typical = create();
    learn(typical, 4_000, 10);
    learn(typical, 1, 300);
    assert.ok(output(typical) > 2_900, String(output(typical)));
  });

  it('forgets an outlier with time', () => {
    const typical = create();
    learn(typical, 100_000);
    nowMs += HOUR_MS;
    learn(typical, 100);
    assert.ok(output(typical) < 2_000, String(output(typical)));
  });

  it('is not lowered by what is only known to be used at least', () => {
    const typical = create();
    typical.learn('acme', 'lane', 'outputTokens', 1, false);
    assert.equal(output(typical), 256);
    typical.learn('acme', 'lane', 'outputTokens', 4_000, false);
    assert.ok(output(typical) > 2_000);
  });

  it('is never brought to zero by a provider that reports zero', () => {
    const typical = create();
    learn(typical, 0);
    assert.equal(output(typical), 256);
  });

  it('of one organization is not learned from another that calls a model of the same name', () => {
    const typical = create();
    typical.learn('other', 'gpt-4o', 'outputTokens', 1_000_000_000, true);
    assert.equal(output(typical, 'gpt-4o'), 256);
  });

  it('keeps a bounded number of names, and one organization’s names do not displace another’s', () => {
    const typical = create();
    learn(typical, 1_000);
    const learned = output(typical);
    typical.learn('other', 'first', 'outputTokens', 1_000, true);
    for (let index = 0; index < 20_000; index += 1)
      typical.learn('other', `model ${index}`, 'outputTokens', 1_000, true);
    assert.equal(output(typical), learned);
    assert.equal(output(typical, 'model 19999', 'other'), learned);
    assert.equal(output(typical, 'first', 'other'), 256);
  });

  it('keeps the names that learned last, not those that learned first', () => {
    const typical = create();
    learn(typical, 1_000, 1, 'busy');
    for (let index = 0; index < 150; index += 1) learn(typical, 10, 1, `model ${index}`);
    learn(typical, 1_000, 1, 'busy');
    for (let index = 150; index < 300; index += 1) learn(typical, 10, 1, `model ${index}`);
    assert.ok(output(typical, 'busy') > 256);
  });

  it('keeps a bounded number of organizations: those that learned last', () => {
    const typical = create();
    for (let index = 0; index < 20_000; index += 1)
      typical.learn(`organization ${index}`, 'lane', 'outputTokens', 1_000, true);
    assert.equal(output(typical, 'lane', 'organization 0'), 256);
    assert.ok(output(typical, 'lane', 'organization 19999') > 256);
  });
});
