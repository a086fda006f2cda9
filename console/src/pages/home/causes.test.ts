import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestLogEntry } from '@relay/contract';
import { causesOf } from './causes.ts';

describe('the causes of failed requests', () => {
  it('are grouped by error code, the most frequent first, each with its latest request', () => {
    const entries = ['a', 'b', 'b', null].map(
      (code, index) => ({ request_id: String(index), error_code: code }) as RequestLogEntry,
    );
    assert.deepEqual(
      causesOf(entries).map(({ code, count, latest }) => [code, count, latest.request_id]),
      [
        ['b', 2, '1'],
        ['a', 1, '0'],
        [null, 1, '3'],
      ],
    );
  });
});
