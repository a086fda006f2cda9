import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { issuesIn, readError } from './read-error.ts';

const read = (error: unknown, headers: Record<string, string> = {}) =>
  readError({ status: 400, headers: new Headers(headers) }, JSON.stringify({ error }));

describe('readError', () => {
  it('reads every field of an error body', () => {
    const issues = [{ path: 'name', message: 'name is required' }];
    const error = read(
      {
        code: 'validation_error',
        message: 'No.',
        param: 'name',
        request_id: 'r1',
        doc_url: '/docs/errors/validation_error',
        resets_at: '2026-01-01T00:00:00Z',
        issues,
      },
      { 'retry-after-ms': '1500' },
    );
    assert.deepEqual(error, {
      status: 400,
      code: 'validation_error',
      message: 'No.',
      param: 'name',
      issues,
      requestId: 'r1',
      docUrl: '/docs/errors/validation_error',
      retryAfterMs: 1_500,
      resetsAt: '2026-01-01T00:00:00Z',
    });
  });

  it('falls back to the status and the request ID of the headers', () => {
    const error = read({ message: '', param: 7, issues: [{ path: 1 }, null] }, { 'x-request-id': 'r2' });
    assert.deepEqual(
      [error?.code, error?.message, error?.param, error?.issues, error?.requestId],
      ['http_400', null, null, [], 'r2'],
    );
  });

  it('returns null for a body that is not an error of Relay', () => {
    const response = { status: 502, headers: new Headers() };
    for (const body of ['', '<html>', '[]', 'null', '{}', '{"error":"down"}', '{"error":["down"]}'])
      assert.equal(readError(response, body), null, body);
  });
});

describe('issuesIn', () => {
  it('returns the issues, else the one field that the error names, else nothing', () => {
    const issues = [
      { path: 'a', message: 'a is required' },
      { path: 'b', message: 'b is required' },
    ];
    const found = [{ issues, param: 'a' }, { param: 'c', message: 'Bad c.' }, { message: 'Bad.' }].map(
      (error) => {
        const response = read(error);
        assert.ok(response);
        return issuesIn(response);
      },
    );
    assert.deepEqual(found, [issues, [{ path: 'c', message: 'Bad c.' }], []]);
  });
});
