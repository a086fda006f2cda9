import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestLogEntry } from '@relay/contract';
import { firstRequestWords } from './first-request-words.ts';

const entry = (fields: Partial<RequestLogEntry>) =>
  ({
    model: 'assistant',
    upstream_model: 'gpt-5',
    http_status: 200,
    wait_ms: 0,
    duration_ms: 2_300,
    input_tokens: 1_204,
    output_tokens: 96,
    cost_micros: 4_100,
    error_code: null,
    ...fields,
  }) as RequestLogEntry;

describe('the words for a first request', () => {
  it('say where it went, how long it waited and took, what it used and cost', () => {
    assert.deepEqual(firstRequestWords(entry({ wait_ms: 800 })), {
      passage: 'assistant → gpt-5 · waited 800 ms · 200 in 2.3 s · 1,204 input · 96 output tokens · $0.0041',
      cause: null,
    });
  });

  it('leave out what is not known, and say why it failed', () => {
    const unsent = {
      upstream_model: null,
      http_status: 429,
      input_tokens: null,
      output_tokens: null,
      cost_micros: null,
    };
    const { passage, cause } = firstRequestWords(entry({ ...unsent, error_code: 'queue_full' }));
    assert.equal(passage, 'assistant · 429 in 2.3 s');
    assert.equal(cause, 'Queue full');
    assert.equal(firstRequestWords(entry({ ...unsent, error_code: 'other' })).cause, 'other');
  });
});
