import assert from 'node:assert/strict';
import { addLane, ask, chatBody, errorOf } from '../../harness/ask-raw.ts';
import type { Deployment } from '../../harness/deployment.ts';
import type { RawAnswer } from '../../harness/raw-exchange.ts';
import { afterMs, until } from '../../harness/until.ts';
import type { Manner } from '../manner.ts';

const WAIT_MS_MAX = 5_000;
const CHALLENGE = 'Bearer realm="relay"';
const WRONG = `${CHALLENGE}, error="invalid_token"`;

interface LimitSetup {
  readonly metric: string;
  readonly period: string;
  readonly value: number;
}

/** A lane that does not wait, under one limit of its own. */
async function limitedLane(site: Deployment, name: string, { metric, period, value }: LimitSetup) {
  const { laneId, endpointIds } = await addLane(site, name, { default_max_wait_ms: 0 });
  const limit = await site.admin.create('/api/relay/limit-policies', {
    scope_type: 'lane',
    scope_id: laneId,
    metric,
    period,
    limit_value: value,
    enabled: true,
  });
  return { limitId: limit.id, endpointId: endpointIds[0] ?? '' };
}

function chat(site: Deployment, lane: string, more: object = {}): Promise<RawAnswer> {
  return ask(site, '/v1/chat/completions', { body: chatBody(lane, more) });
}

export const answerManners: readonly Manner[] = [
  {
    name: 'every 401 carries WWW-Authenticate, and says invalid_token when a key was sent',
    async check(site) {
      const cases: [string, Record<string, string>, string][] = [
        ['/v1/models', { authorization: '' }, CHALLENGE],
        ['/v1/models', { authorization: 'Basic eDp5' }, CHALLENGE],
        ['/v1/models', { authorization: 'Bearer nobody' }, WRONG],
        ['/v1/models', { authorization: `Bearer ${site.adminToken}` }, WRONG],
        ['/v1/chat/completions', { authorization: 'Bearer rly_nobody' }, WRONG],
        ['/api/account', { authorization: '' }, CHALLENGE],
        ['/api/account', { authorization: 'Bearer nobody' }, WRONG],
        ['/v1/models', { authorization: `Bearer ${site.apiToken} x` }, CHALLENGE],
      ];
      for (const [path, headers, wanted] of cases) {
        const method = path.endsWith('completions') ? 'POST' : 'GET';
        const answer = await ask(site, path, { method, headers });
        assert.equal(answer.status, 401, path);
        assert.equal(answer.headers['www-authenticate'], wanted, `${path} ${JSON.stringify(headers)}`);
      }
      const body = { email: 'nobody@example.com', password: 'wrong-password-123' };
      const signIn = await ask(site, '/api/session', { body, headers: { authorization: '' } });
      assert.deepEqual([signIn.status, signIn.headers['www-authenticate']], [401, CHALLENGE]);
    },
  },
  {
    name: 'a 429 carries limit, remaining and reset of the requests policy that refused',
    async check(site) {
      await limitedLane(site, 'few', { metric: 'requests', period: 'minute', value: 1 });
      assert.equal((await chat(site, 'few')).status, 200);
      const refused = await chat(site, 'few');
      assert.equal(refused.status, 429);
      assert.equal(refused.headers['x-ratelimit-limit-requests'], '1');
      assert.equal(refused.headers['x-ratelimit-remaining-requests'], '0');
      const resetS = Number(/^([\d.]+)s$/.exec(refused.headers['x-ratelimit-reset-requests'] ?? '')?.[1]);
      assert.ok(resetS > 50 && resetS <= 61, refused.headers['x-ratelimit-reset-requests']);
      assert.equal(refused.headers['x-ratelimit-limit-tokens'], undefined);
    },
  },
  {
    name: 'a 429 of a tokens policy says what is really left of it, also to a request that is larger than the limit',
    async check(site) {
      const { limitId } = await limitedLane(site, 'wordy', { metric: 'tokens', period: 'hour', value: 200 });
      assert.equal((await chat(site, 'wordy', { max_tokens: 60 })).status, 200);
      let remaining = 200;
      const isSettled = async () => {
        const { body } = await site.admin.call('GET', '/api/relay/limits/usage');
        const rows = body as { policy_id: string; remaining: number; reserved: number }[];
        const row = rows.find(({ policy_id }) => policy_id === limitId);
        remaining = row?.remaining ?? 200;
        return remaining < 200 && row?.reserved === 0;
      };
      assert.ok(await until(isSettled, WAIT_MS_MAX));
      for (const maxTokens of [190, 1_000]) {
        const refused = await chat(site, 'wordy', { max_tokens: maxTokens });
        assert.equal(refused.status, 429, String(maxTokens));
        assert.equal(refused.headers['x-ratelimit-limit-tokens'], '200');
        assert.equal(refused.headers['x-ratelimit-remaining-tokens'], String(remaining));
        assert.match(refused.headers['x-ratelimit-reset-tokens'] ?? '', /^\d+\.\d{3}s$/);
      }
    },
  },
  {
    name: 'a refusal says money in dollars and durations as people read them',
    async check(site) {
      await limitedLane(site, 'daily', { metric: 'requests', period: 'day', value: 1 });
      assert.equal((await chat(site, 'daily')).status, 200);
      const tomorrow = String(errorOf(await chat(site, 'daily'))['message']);
      assert.match(tomorrow, /Retry in (?:\d+ h(?: \d+ min)?|\d+ min(?: \d+ s)?|\d+ s)\.$/);
      const { endpointId } = await limitedLane(site, 'cheap', {
        metric: 'spend',
        period: 'day',
        value: 1_250,
      });
      await site.admin.create('/api/relay/pricing-policies', {
        endpoint_id: endpointId,
        currency: 'USD',
        input_cost_micros_per_1m_tokens: 1_000_000_000,
        output_cost_micros_per_1m_tokens: 1_000_000_000,
        source: 'manual',
      });
      let message = '';
      const isRefused = async () => {
        const answer = await chat(site, 'cheap');
        if (answer.status === 429) message = String(errorOf(answer)['message']);
        return answer.status === 429;
      };
      assert.ok(await until(isRefused, WAIT_MS_MAX));
      assert.match(message, /the limit of \$0\.00125 per day on lane "cheap"/);
      assert.doesNotMatch(message, /1250|spend/);
    },
  },
  {
    name: 'behind a concurrency limit, Retry-After follows from how long requests take and have run',
    async check(site) {
      await limitedLane(site, 'single', { metric: 'concurrency', period: 'none', value: 1 });
      const slow = { sim: { delayMs: 4_000, tag: 'single' } };
      const running = () =>
        site.provider.log.filter((each) => each.fault?.tag === 'single' && each.outcome === 'pending').length;
      const retryMs = async () => {
        const answer = await chat(site, 'single');
        assert.equal(answer.status, 429, answer.body.toString());
        const ms = Number(answer.headers['retry-after-ms']);
        assert.equal(answer.headers['retry-after'], String(Math.ceil(ms / 1_000)));
        return ms;
      };
      const first = chat(site, 'single', slow);
      assert.ok(await until(() => running() === 1, WAIT_MS_MAX));
      const unknown = await retryMs();
      assert.ok(unknown >= 1_000 && unknown <= 60_000, `nothing is known: ${unknown}`);
      assert.equal((await first).status, 200);

      const second = chat(site, 'single', slow);
      assert.ok(await until(() => running() === 1, WAIT_MS_MAX));
      const early = await retryMs();
      assert.ok(early > 2_500 && early <= 4_500, `just begun: ${early}`);
      const request = { operation: 'chat', body: chatBody('single') };
      const explained = await site.admin.call('POST', '/api/relay/routing/explain', request);
      const explainedMs = (explained.body as { retry_after_ms: number }).retry_after_ms;
      assert.ok(Math.abs(explainedMs - early) < 1_000, `explained as ${explainedMs} after ${early}`);
      // The estimate follows the age of the running request, so that it has to age.
      await afterMs(2_000);
      const late = await retryMs();
      assert.ok(late >= 1_000 && late < early - 1_000, `half done: ${late} after ${early}`);
      assert.equal((await second).status, 200);
    },
  },
];
