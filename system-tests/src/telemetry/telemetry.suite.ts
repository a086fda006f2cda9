import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { reportFigures } from '../harness/figures.ts';
import { readRequest } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import { LIMITED, OPEN, RECEIVER_SECRET, type Site, startSite } from './site.ts';
import type { ReceivedSpan } from './trace-receiver.ts';

const START_MS_MAX = 180_000;
const SEEN_MS_MAX = 15_000;
const KEYS = 10_000;
/** Every request is one of another key. */
const KEYS_USED = IS_LONG ? KEYS : 200;
const CONCURRENTLY = 16;
const PROMPT = 'The patient Ada Lovelace has a fever.';
const CLIENT_SPAN = 'b7ad6b7169203331';

const figures: Record<string, unknown> = {};
let site: Site;

before(
  async () => {
    site = await startSite();
  },
  { timeout: START_MS_MAX },
);
after(async () => {
  reportFigures(figures);
  await site?.stop();
});

interface Asked {
  readonly token?: string;
  readonly traceparent?: string;
  readonly stream?: boolean;
}

async function ask(model: string, { token, traceparent, stream = false }: Asked = {}) {
  const response = await fetch(`${site.deployment.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token ?? site.deployment.apiToken}`,
      'content-type': 'application/json',
      ...(traceparent !== undefined && { traceparent, tracestate: 'tenant=acme' }),
    },
    body: JSON.stringify({ model, stream, max_tokens: 20, messages: [{ role: 'user', content: PROMPT }] }),
  });
  const text = await response.text();
  return { status: response.status, text, requestId: response.headers.get('x-request-id') ?? '' };
}

const newTraceId = () => randomBytes(16).toString('hex');
const sampled = (traceId: string) => `00-${traceId}-${CLIENT_SPAN}-01`;

async function spansOf(traceId: string): Promise<readonly ReceivedSpan[]> {
  const found = () => site.receiver.spans.filter((span) => span.traceId === traceId);
  assert.ok(
    await until(() => found().some(({ kind }) => kind === 'SPAN_KIND_SERVER'), SEEN_MS_MAX),
    'no trace',
  );
  return found();
}

describe('one request through wait, fallback and settle', () => {
  const traceId = newTraceId();
  let requestId: string;
  let spans: readonly ReceivedSpan[];
  const named = (name: string) => spans.filter((span) => span.name === name);

  before(async () => {
    assert.equal((await ask(LIMITED)).status, 200);
    const answered = await ask(LIMITED, { traceparent: sampled(traceId), stream: true });
    assert.equal(answered.status, 200);
    requestId = answered.requestId;
    spans = await spansOf(traceId);
  });

  it('is one trace in the client’s, with a span for each step and each attempt', () => {
    const [root] = spans.filter(({ kind }) => kind === 'SPAN_KIND_SERVER');
    assert.ok(root !== undefined);
    assert.equal(root.parentSpanId, CLIENT_SPAN);
    assert.equal(root.traceState, 'tenant=acme');
    assert.equal(root.service, 'relay');
    assert.equal(root.schemaUrl, 'https://opentelemetry.io/schemas/1.37.0');
    for (const span of spans) {
      if (span !== root) assert.equal(span.parentSpanId, root.spanId, span.name);
      assert.ok(
        span.startNs >= root.startNs && span.endNs <= root.endNs && span.startNs <= span.endNs,
        span.name,
      );
    }
    for (const name of ['authenticate', 'receive', 'route', 'respond', 'settle'])
      assert.equal(named(name).length, 1, name);
    assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
    figures['spans'] = spans.length;
  });

  it('has the wait with its limit, the attempt that failed and the one that served', () => {
    const admitted = named('admit');
    assert.equal(admitted.length, 2);
    const waited = admitted.find(({ attributes }) => Number(attributes['relay.wait_ms']) > 100);
    assert.ok(String(waited?.attributes['relay.limited_by']).startsWith(site.policyId));
    const attempts = spans.filter(({ kind }) => kind === 'SPAN_KIND_CLIENT');
    assert.deepEqual(
      attempts.map(({ name, failed, attributes }) => [name, failed, attributes['relay.endpoint.id']]),
      [
        ['chat sim-multi', true, site.endpointIds[0]],
        ['chat sim-multi', false, site.endpointIds[1]],
      ],
    );
    assert.equal(attempts[0]?.attributes['error.type'], 'upstream_unreachable');
    const served = attempts[1]?.attributes;
    assert.equal(served?.['gen_ai.operation.name'], 'chat');
    assert.equal(served?.['gen_ai.provider.name'], 'custom');
    assert.equal(served?.['gen_ai.request.model'], 'sim-multi');
    assert.ok(Number(served?.['gen_ai.usage.input_tokens']) > 0);
    assert.equal(served?.['http.response.status_code'], 200);
    figures['waited_ms'] = waited?.attributes['relay.wait_ms'];
  });

  it('has one id in the trace, the log and the ledger', async () => {
    const root = spans.find(({ kind }) => kind === 'SPAN_KIND_SERVER');
    assert.equal(root?.attributes['relay.request.id'], requestId);
    const { admin, processes } = site.deployment;
    assert.ok(await until(async () => (await readRequest(admin, requestId)) !== null, SEEN_MS_MAX));
    const row = await readRequest(admin, requestId);
    assert.equal(row?.trace_id, traceId);
    assert.equal(row?.fallback_count, 1);
    assert.ok((row?.wait_ms ?? 0) > 100);
    const lines = processes[0]?.logs.filter((line) => line['request_id'] === requestId) ?? [];
    // The warning about its failed attempt may be left out: the request before had the same.
    assert.equal(lines.at(-1)?.['msg'], 'request traced');
    assert.deepEqual([...new Set(lines.map(({ trace_id }) => trace_id))], [traceId]);
  });

  it('goes to the provider as a child of its attempt, without the client’s state', () => {
    const attempts = spans.filter(({ kind }) => kind === 'SPAN_KIND_CLIENT');
    const heard = site.deployment.provider.log.at(-1)?.rawHeaders ?? [];
    const headerOf = (name: string) => heard[heard.findIndex((each) => each.toLowerCase() === name) + 1];
    assert.equal(headerOf('traceparent'), `00-${traceId}-${attempts[1]?.spanId}-01`);
    assert.ok(!heard.join('\n').includes('acme'));
  });

  it('is counted where Prometheus sees it', async () => {
    const { prometheus } = site;
    const positive = (value: number) => value > 0;
    assert.equal(await prometheus.untilValue('up{job="relay"}', positive), 1);
    for (const query of [
      'relay_wait_seconds_sum',
      'relay_overhead_seconds_count',
      'relay_latency_seconds_sum',
      'relay_time_to_first_token_seconds_count',
      'relay_redis_script_seconds_count',
      'max(relay_redis_shard_script_seconds)',
      'relay_trace_spans_total{result="exported"}',
      'gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",error_type=""}',
      'gen_ai_client_token_usage_sum{gen_ai_token_type="input"}',
      'gen_ai_server_time_to_first_token_seconds_count',
      'histogram_quantile(0.5, relay_latency_seconds_bucket)',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      await prometheus.untilValue(query, positive);
    await ask(LIMITED);
    await prometheus.untilValue(
      `relay_limit_headroom_ratio{policy="${site.policyId}"}`,
      (left) => left === 0,
    );
  });
});

describe('what a trace does not have', () => {
  it('is content, a key or a credential', async () => {
    const traceId = newTraceId();
    const { text } = await ask(OPEN, { traceparent: sampled(traceId) });
    await spansOf(traceId);
    const answered = (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0];
    const exported = site.receiver.bytes().toString('latin1');
    const words = [...PROMPT.split(' ').filter((word) => word.length > 5), answered?.message.content ?? ''];
    for (const word of [...words, site.deployment.apiToken, 'sk-upstream'])
      assert.ok(word !== '' && !exported.includes(word), word);
    for (const { authorization } of site.receiver.headers)
      assert.equal(authorization, `Bearer ${RECEIVER_SECRET}`);
  });

  it('is a request without a valid key, whatever its client asks for', async () => {
    const refused = newTraceId();
    const served = newTraceId();
    assert.equal((await ask(OPEN, { token: 'x'.repeat(40), traceparent: sampled(refused) })).status, 401);
    await ask(OPEN, { traceparent: sampled(served) });
    await spansOf(served);
    assert.ok(!site.receiver.spans.some((span) => span.traceId === refused));
  });
});

describe(`with ${KEYS} keys`, () => {
  it('the number of series stays as it was', async () => {
    const { prometheus } = site;
    // Node has series for each kind of garbage collection from its first on, whenever that is.
    const counted = 'count({job="relay",__name__!~"nodejs_gc_.*"})';
    const series = async () => (await prometheus.value(counted)) ?? 0;
    const served = 'sum(relay_inference_requests_total{operation="chat",state="completed"})';
    const [first = '', ...keys] = await site.addKeys(KEYS);
    // What any key brings, such as the kind of its limit, is there before.
    assert.equal((await ask(OPEN, { token: first })).status, 200);
    const [done, before] = [await untilQuiet(served), await series()];
    const waiting = keys.slice(0, KEYS_USED);
    await Promise.all(
      Array.from({ length: CONCURRENTLY }, async () => {
        for (let token = waiting.pop(); token !== undefined; token = waiting.pop())
          assert.equal((await ask(OPEN, { token })).status, 200);
      }),
    );
    const used = Math.min(KEYS_USED, keys.length);
    await prometheus.untilValue(served, (count) => count >= done + used);
    const after = await series();
    Object.assign(figures, { keys: KEYS, keys_used: used, series_before: before, series_at_10k_keys: after });
    assert.ok(after - before <= 10, `${before} series, then ${after}`);
    assert.ok((await prometheus.value('relay_keys_held')) ?? 0 >= used);
  });

  /** The count that Prometheus has when it has seen the last request. */
  async function untilQuiet(query: string): Promise<number> {
    let last = -1;
    await until(
      async () => {
        const now = (await site.prometheus.value(query)) ?? 0;
        const isSame = now === last;
        last = now;
        return isSame && now > 0;
      },
      SEEN_MS_MAX,
      1_500,
    );
    return last;
  }
});

describe('a receiver that hangs', () => {
  it('delays no request, and what waits for it is counted', async () => {
    site.receiver.hang();
    const took: number[] = [];
    for (let request = 0; request < 30; request += 1) {
      const startMs = performance.now();
      assert.equal((await ask(OPEN, { traceparent: sampled(newTraceId()) })).status, 200);
      took.push(performance.now() - startMs);
    }
    figures['hanging_receiver_ms_max'] = Math.round(Math.max(...took));
    assert.ok(Math.max(...took) < 2_000);
    await site.prometheus.untilValue(
      'relay_trace_queue_spans + ignoring(result) relay_trace_spans_total{result="failed"}',
      (spans) => spans > 0,
    );
  });
});
