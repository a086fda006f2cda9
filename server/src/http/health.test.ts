import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it } from 'node:test';
import type { HealthReport } from '@relay/contract';
import { answerProbe } from './health.ts';

function probe(url: string, clock: HealthReport['clock']): { status: number; body: HealthReport } {
  const sent = { status: 0, body: '' };
  const response = {
    writeHead(status: number) {
      sent.status = status;
    },
    end(body: string) {
      sent.body = body;
    },
  } as unknown as ServerResponse;
  const checks = { postgresql: { status: 'ok' as const } };
  const health = { draining: false, version: '1', role: 'all', checks, ...(clock && { clock }) };
  assert.ok(answerProbe({ url } as IncomingMessage, response, () => health));
  return { status: sent.status, body: JSON.parse(sent.body) };
}

it('a process whose clock is far off is alive, not ready, and says why', () => {
  const detail = 'Relay’s clock is 10 min ahead of postgresql’s.';
  const off = { status: 'unavailable' as const, detail, ahead_ms: { postgresql: 600_000 } };
  assert.equal(probe('/livez', off).status, 200);
  const ready = probe('/readyz', off);
  assert.deepEqual([ready.status, ready.body.status, ready.body.clock?.detail], [503, 'degraded', detail]);
  assert.equal(probe('/healthz', off).status, 200);
  const near = { status: 'ok' as const, detail, ahead_ms: { postgresql: 5_000 } };
  assert.deepEqual([probe('/readyz', near).status, probe('/readyz', near).body.status], [200, 'ok']);
  assert.equal(probe('/readyz', undefined).status, 200);
});
