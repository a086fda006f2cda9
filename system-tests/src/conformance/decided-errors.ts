import { ask, askMarked, header } from './asks.ts';
import { type Answer, at, exchange, textAt } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { everywhere, type Mode, onlyHosted, selfHosted } from './mode.ts';
import { NO_ID } from './objects.ts';
import { keyWith, newKey } from './people.ts';
import { refusedBy } from './section-7.ts';
import type { Site } from './site.ts';
import { decided, type Statement } from './statement.ts';
import { BODY_BYTES_MAX } from './walked.ts';

// What the specification leaves open and Relay has decided: errors, streams, modes.

/** An error that the service makes itself, by its code. */
interface Situation {
  readonly code: string;
  readonly type?: string;
  readonly status: number;
  readonly param?: string;
  readonly appliesIn?: (mode: Mode) => boolean;
  readonly ask: (site: Site) => Promise<Answer>;
}

const LIMITS = '/api/relay/api-key-limit-policies';

/** A key that may send nothing until the month is over. */
async function spentKey(site: Site): Promise<Answer> {
  const { id, secret } = await newKey(site, ['relay:request']);
  const body = {
    api_key_uuid: id,
    target_type: 'global',
    metric: 'requests',
    period: 'month',
    limit_value: 1,
    enabled: true,
  };
  expectStatus(await site.call('POST', LIMITS, { body }), 200);
  let answer = await ask(site, 'plain', { key: secret });
  // The limit may reach inference a moment later; at most a handful of requests pass until then.
  for (let tries = 0; tries < 200 && answer.status === 200; tries += 1)
    answer = await ask(site, 'plain', { key: secret });
  return answer;
}

const situations: readonly Situation[] = [
  { code: 'missing_api_key', status: 401, ask: ({ call }) => call('GET', '/v1/models', { key: null }) },
  {
    code: 'invalid_api_key',
    status: 401,
    ask: ({ call }) => call('GET', '/api/relay/providers', { key: 'sk-another-service' }),
  },
  {
    code: 'insufficient_scope',
    status: 403,
    appliesIn: everywhere,
    ask: async (site) => {
      const { secret } = await keyWith(site, 'relay:request');
      return site.call('GET', '/api/relay/providers', { key: secret });
    },
  },
  {
    code: 'not_found',
    status: 404,
    ask: ({ call }) => call('GET', `/api/relay/guardrails/${NO_ID}`),
  },
  {
    code: 'invalid_request',
    status: 400,
    param: 'name',
    ask: ({ call }) => call('PATCH', '/api/account', { body: { name: 7 } }),
  },
  { code: 'invalid_json', status: 400, ask: ({ call }) => call('POST', '/v1/responses', { raw: '{' }) },
  { code: 'model_not_found', status: 400, param: 'model', ask: (site) => ask(site, 'no-such-model') },
  {
    code: 'body_too_large',
    status: 413,
    ask: (site) => ask(site, 'plain', { body: { padding: 'x'.repeat(BODY_BYTES_MAX) } }),
  },
  {
    code: 'guardrail_streaming_unsupported',
    type: 'guardrail_streaming_unsupported',
    status: 400,
    param: 'stream',
    ask: (site) => ask(site, 'guarded', { body: { stream: true } }),
  },
  {
    code: 'guardrail_route_kind_unsupported',
    type: 'guardrail_route_kind_unsupported',
    status: 400,
    ask: (site) => ask(site, 'guarded', { path: '/embeddings' }),
  },
  {
    code: 'content_policy_violation',
    type: 'content_policy_violation',
    status: 403,
    ask: (site) => ask(site, 'guard blocks'),
  },
  {
    code: 'guardrail_unavailable',
    type: 'guardrail_unavailable',
    status: 503,
    ask: (site) => ask(site, 'guard fails'),
  },
  {
    code: 'rate_limit_wait_budget_exceeded',
    type: 'rate_limit_wait_budget_exceeded',
    status: 429,
    ask: (site) => refusedBy(site, '/chat/completions'),
  },
  {
    code: 'budget_exhausted',
    type: 'rate_limit_wait_budget_exceeded',
    status: 429,
    appliesIn: everywhere,
    ask: spentKey,
  },
  {
    code: 'mode_unsupported',
    status: 403,
    appliesIn: onlyHosted,
    ask: ({ call }) => call('GET', '/api/relay/limit-policies'),
  },
];

const answerIn = (site: Site, { code, ask: asked }: Situation): Promise<Answer> =>
  site.once(`error ${code}`, () => asked(site));

const shape = '{"error": {"type", "code", "message", "param", "request_id", "doc_url", …}}';

const shapes = situations.flatMap((situation) => {
  const { code, type, status, param, appliesIn } = situation;
  const about = (says: string, check: (answer: Answer) => Promise<void> | void): Statement =>
    decided(
      'd4',
      shape,
      `${code} ${says}`,
      async (site) => check(await answerIn(site, situation)),
      appliesIn,
    );
  return [
    about(`answers ${status}`, (answer) => expectStatus(answer, status)),
    about('is the code of the error', (answer) => expectEqual(at(answer.body, 'error.code'), code, 'code')),
    about(`has ${type === undefined ? 'a type' : `the type ${type}`}`, (answer) => {
      const came = textAt(answer, 'error.type');
      expect(type === undefined ? came !== '' : came === type, type ?? 'a type', answer);
    }),
    about('says what, why and what to do', (answer) => {
      expect(textAt(answer, 'error.message').length > 20, 'a message of some length', answer);
    }),
    about(`has ${param ?? 'null or a field'} as its param`, (answer) => {
      const came = at(answer.body, 'error.param');
      expect(
        param === undefined ? came === null || typeof came === 'string' : came === param,
        'param',
        answer,
      );
    }),
    about('has the request ID of the response', (answer) => {
      expectEqual(at(answer.body, 'error.request_id'), header(answer, 'x-request-id'), 'request_id');
    }),
    about('has a doc_url that the deployment serves', async (answer) => {
      const page = await exchange(textAt(answer, 'error.doc_url'), 'GET', '');
      expectStatus(page, 200);
      expect(page.text.includes(code), 'a page about it', page);
    }),
  ];
});

const also: readonly Statement[] = [
  ...['guardrail_unavailable'].map((code) =>
    decided('d4', '`Retry-After: 1`', `${code} carries Retry-After: 1`, async (site) => {
      const situation = situations.find((each) => each.code === code);
      expect(situation !== undefined, code, situations.length);
      expectEqual(header(await answerIn(site, situation), 'retry-after'), '1', 'Retry-After');
    }),
  ),
  decided(
    'd4',
    'true Retry-After and `x-should-retry: false`, so that SDKs do not sleep for hours',
    'budget_exhausted carries x-should-retry: false',
    async (site) => {
      const answer = await site.once('error budget_exhausted', () => spentKey(site));
      expectEqual(header(answer, 'x-should-retry'), 'false', 'x-should-retry');
      expect(Number(header(answer, 'retry-after')) > 60, 'the true time', header(answer, 'retry-after'));
    },
    everywhere,
  ),
  decided(
    'd4',
    'guardrail id and stage, never the matched text',
    'a block names the guardrail',
    async (site) => {
      const answer = await site.once('error content_policy_violation', () => ask(site, 'guard blocks'));
      const error = at(answer.body, 'error');
      expect(typeof at(error, 'guardrail_id') === 'string', 'guardrail_id', answer);
      expectEqual(at(error, 'stage'), 'pre_dispatch', 'stage');
    },
  ),
  decided(
    'd4',
    'Upstream errors pass through byte for byte, marked `x-relay-error-source: upstream`',
    'a provider’s error is marked as such',
    async (site) => {
      const answer = await ask(site, 'plain', { fault: { status: 422 } });
      expectEqual(header(answer, 'x-relay-error-source'), 'upstream', 'x-relay-error-source');
    },
  ),
  decided(
    'd6',
    '`stream_options.include_usage` is set upstream when the client did not ask',
    'a chat stream asks the provider for usage',
    async (site) => {
      const { seen } = await askMarked(site, 'plain', { body: { stream: true } });
      const sent = JSON.parse(seen[0]?.body?.toString() ?? '{}') as unknown;
      expectEqual(at(sent, 'stream_options.include_usage'), true, 'include_usage');
    },
  ),
  decided(
    'd6',
    'the extra usage frame is then not forwarded',
    'a client that did not ask gets no usage frame',
    async (site) => {
      const { answer } = await askMarked(site, 'plain', { body: { stream: true } });
      expect(!answer.text.includes('"prompt_tokens"'), 'no usage frame', answer.text.slice(-300));
    },
  ),
  decided('d6', 'the client asks for usage', 'a client that asks gets the usage frame', async (site) => {
    const body = { stream: true, stream_options: { include_usage: true } };
    const { answer } = await askMarked(site, 'plain', { body });
    expect(answer.text.includes('"prompt_tokens"'), 'a usage frame', answer.text.slice(-300));
  }),
];

const modes: readonly Statement[] = [
  decided('d7', 'capabilities: mode', 'GET /api/relay/capabilities tells the mode', async (site) => {
    const { body } = await site.call('GET', '/api/relay/capabilities');
    expectEqual(at(body, 'mode'), site.mode.hosted ? 'hosted' : 'self_hosted', 'mode');
  }),
  decided(
    'd7',
    'one implicit organization and owner',
    'the admin token acts for an owner',
    async (site) => {
      const answer = await site.call('GET', '/api/account', { key: site.tokens?.admin ?? '' });
      expectEqual(textAt(answer, 'role'), 'owner', 'role');
    },
    selfHosted,
  ),
  decided(
    'd7',
    'inference accepts nothing else',
    'management is not served by the inference service',
    async (site) => {
      // The contract has this route, but not on this service.
      const sending = { key: site.adminKey, expectsDeviation: true };
      const answer = await exchange(site.inferenceUrl ?? '', 'GET', '/api/account', sending);
      expectEqual(textAt(answer, 'error.code'), 'route_not_found', 'code');
    },
    onlyHosted,
  ),
];

export const decidedErrors: readonly Statement[] = [...shapes, ...also, ...modes];
