import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { AdmissionAnswer, AdmissionAsk, AdmissionEngine } from '../admission/engine.ts';
import type { Labels } from '../kit/metrics.ts';
import { sampleRecord } from '../metering/request-records.fixture.ts';
import { createMeasurements } from './measurements.ts';

const FIGURES = { firstByteMs: 20, overheadMs: 2, presetSlug: 'openai' };

/** The non-zero samples as text. */
function counted(samples: readonly [Labels, number][]): string[] {
  return samples
    .filter(([, count]) => count > 0)
    .map(([labels, count]) => `${Object.values(labels).join(' ')} ${count}`);
}

describe('measurements', () => {
  it('count answers by plane and class, and clients that left before any', async () => {
    let nowMs = 0;
    const measurements = createMeasurements({ nowMs: () => 0, monotonicMs: () => (nowMs += 1) });
    let arrived: () => void = () => undefined;
    let gone: () => void = () => undefined;
    const handler = measurements.counted((request, response) => {
      if (request.url === '/v1/hang') {
        response.once('close', gone);
        return arrived();
      }
      response.writeHead(Number(request.headers['x-status'])).end();
    });
    const server = createServer((request, response) => handler(request, response, 'the-id'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const [path, status] of [
      ['/v1/models', 200],
      ['/v1/models', 206],
      ['/v1/models', 429],
      ['/api/relay/providers', 503],
      ['/openapi.json', 304],
    ] as const)
      await fetch(url + path, { headers: { 'x-status': String(status) } });

    const hanging = new AbortController();
    const reached = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const closed = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const left = fetch(`${url}/v1/hang`, { signal: hanging.signal });
    await reached;
    assert.equal(measurements.openInference(), 1);
    hanging.abort();
    await assert.rejects(left);
    await closed;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    assert.equal(measurements.openInference(), 0);
    assert.deepEqual(counted(measurements.answers()), [
      'inference none 1',
      'inference 2xx 2',
      'inference 4xx 1',
      'management 5xx 1',
      'operations 3xx 1',
    ]);
  });

  it('count requests by operation and state, and how long they waited', () => {
    const measurements = createMeasurements({ nowMs: () => 0, monotonicMs: () => 0 });
    measurements.settled(sampleRecord({ waitMs: 1_500, ttftMs: null }), { ...FIGURES, firstByteMs: null });
    measurements.settled(
      sampleRecord({ operation: 'embeddings', state: 'failed', waitMs: 0, ttftMs: 20 }),
      FIGURES,
    );
    assert.deepEqual(counted(measurements.requests()), ['chat completed 1', 'embeddings failed 1']);
    assert.equal(measurements.waits.sum(), 1.5);
    assert.deepEqual(
      measurements.firstBytes.counts.reduce((sum, count) => sum + count),
      1,
    );
  });

  it('tell overhead, latency and time to first token apart', () => {
    const measurements = createMeasurements({ nowMs: () => 0, monotonicMs: () => 0 });
    const count = ({ counts }: { counts: readonly number[] }) => counts.reduce((sum, each) => sum + each);
    measurements.settled(sampleRecord({ streaming: true, ttftMs: 40, latencyMs: 900 }), FIGURES);
    measurements.settled(sampleRecord({ streaming: false, ttftMs: 40, latencyMs: 100 }), FIGURES);
    measurements.settled(sampleRecord({ streaming: true, status: 499, ttftMs: null, latencyMs: 0 }), {
      ...FIGURES,
      overheadMs: null,
    });
    assert.equal(measurements.latencies.sum(), 1);
    assert.equal(count(measurements.overheads), 2);
    assert.equal(measurements.overheads.sum(), 0.004);
    assert.equal(count(measurements.firstTokens), 1);
    assert.equal(count(measurements.firstBytes), 3);
    assert.equal(measurements.firstBytes.sum(), 0.06);
  });

  it('have no more series under the names of OpenTelemetry than providers and operations allow', () => {
    const measurements = createMeasurements({ nowMs: () => 0, monotonicMs: () => 0 });
    const attempt = {
      endpointId: 'e',
      providerId: 'p',
      upstreamModel: 'm',
      status: 200,
      outcome: 'completed',
      cause: null,
      latencyMs: 20,
    } as const;
    for (let index = 0; index < 1_000; index += 1) {
      const attempts = [{ ...attempt, outcome: 'failed', cause: `made-up-${index}` } as const];
      measurements.settled(sampleRecord({ attempts }), {
        ...FIGURES,
        presetSlug: `made-up-${index}`,
      });
    }
    measurements.settled(sampleRecord({ attempts: [{ ...attempt, cause: 'upstream_status_503' }] }), FIGURES);
    const durations = measurements.genAi.operationDurations();
    assert.equal(durations.length, 200);
    assert.equal(
      durations.reduce((sum, [, { counts }]) => sum + counts.reduce((one, other) => one + other), 0),
      1_001,
    );
    assert.deepEqual(
      measurements.genAi.requestDurations().map(([labels]) => labels['gen_ai_provider_name']),
      ['custom', 'openai'],
    );
  });

  it('count what guardrails said by stage, verdict and cause, and how long they took', () => {
    const measurements = createMeasurements({ nowMs: () => 0, monotonicMs: () => 0 });
    const allowed = { guardrailId: 'g', stage: 'pre_dispatch', verdict: 'allowed', latencyMs: 20 } as const;
    const late = {
      guardrailId: 'h',
      stage: 'post_response',
      verdict: 'unavailable',
      latencyMs: 500,
      cause: 'timeout',
    } as const;
    measurements.settled(sampleRecord({ guardrails: [allowed, late] }), FIGURES);
    measurements.settled(sampleRecord({ guardrails: [allowed] }), FIGURES);
    assert.deepEqual(counted(measurements.guardrailVerdicts()), [
      'pre_dispatch allowed none 2',
      'post_response unavailable timeout 1',
    ]);
    assert.equal(measurements.guardrailTimes.pre_dispatch.sum(), 0.04);
    assert.equal(measurements.guardrailTimes.post_response.sum(), 0.5);
  });

  it('time questions to the engine, and count those without an answer apart', async () => {
    let nowMs = 0;
    const measurements = createMeasurements({ nowMs: () => 0, monotonicMs: () => (nowMs += 4) });
    let fails = false;
    const engine = measurements.timed({
      admit: async () => {
        if (fails) throw new Error('away');
        return {
          kind: 'wait',
          candidate: 0,
          withinMs: 1,
          firm: true,
          policyId: null,
        } satisfies AdmissionAnswer;
      },
    } as unknown as AdmissionEngine);
    await engine.admit({} as AdmissionAsk);
    assert.equal(measurements.admissions.sum(), 0.004);
    fails = true;
    await assert.rejects(engine.admit({} as AdmissionAsk), /away/);
    assert.equal(measurements.admissions.sum(), 0.004);
    assert.equal(measurements.admissionFailures(), 1);
  });

  it('of one request cost less than two microseconds', () => {
    const measurements = createMeasurements({ nowMs: () => 0, monotonicMs: () => 0 });
    const record = sampleRecord({ waitMs: 700, ttftMs: 900 });
    const requests = 100_000;
    let best = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 5; turn += 1) {
      const before = process.cpuUsage();
      for (let index = 0; index < requests; index += 1) measurements.settled(record, FIGURES);
      best = Math.min(best, process.cpuUsage(before).user);
    }
    assert.ok((best * 1e3) / requests < 2_000, `${(best * 1e3) / requests} ns`);
  });
});
