import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePopulation, sampleRequest } from './population.ts';
import { COPIED_COLUMNS, copyLine, recordText } from './request-forms.ts';

const organizations = makePopulation({ id: 'largest', providers: ['p'], endpoints: ['e'], lanes: ['l'] });

describe('a sample request', () => {
  it('is the same request as a line of COPY and as a record', () => {
    for (let count = 0; count < 100; count += 1) {
      const request = sampleRequest(organizations, Date.UTC(2026, 0, 1) + count);
      const line = copyLine(request);
      assert.ok(line.endsWith('\n'));
      const fields = line.slice(0, -1).split('\t');
      assert.equal(fields.length, COPIED_COLUMNS.length);
      const copied = Object.fromEntries(COPIED_COLUMNS.map((column, place) => [column, fields[place]]));
      const record = JSON.parse(recordText(request)) as Record<string, unknown>;
      assert.equal(copied['request_id'], record['requestId']);
      assert.equal(copied['key_id'], record['keyId']);
      assert.equal(copied['credential_id'], record['credentialId']);
      assert.equal(Number(copied['latency_ms']), record['latencyMs']);
      assert.equal(copied['error_code'] === '\\N' ? null : copied['error_code'], record['cause']);
      JSON.parse(copied['attempts'] ?? '');
      JSON.parse(copied['trace'] ?? '');
    }
  });

  it('has an id of its own moment', () => {
    const timeMs = Date.UTC(2026, 4, 5, 6, 7, 8, 9);
    const { requestId } = sampleRequest(organizations, timeMs);
    assert.match(requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(Number.parseInt(requestId.slice(0, 8) + requestId.slice(9, 13), 16), timeMs);
  });
});
