import { type Caller, NO_ID } from './answer.ts';
import type { Made } from './repeats.ts';
import { routeOf } from './route-of.ts';
import { answerIn } from './served.ts';
import type { World } from './world.ts';

interface BadBody {
  readonly line: string;
  readonly body: unknown;
  /** The field that is at fault. */
  readonly param: string;
  /** What the message says to do, in its own words. */
  readonly fix: RegExp;
  /** `400 invalid_request` unless something else is said. */
  readonly answer?: string;
}

const https = 'https://api.example.com/v1';
const expiry = { name: 'Key', scopes: ['relay:request'] };
const price = { input_cost_micros_per_1m_tokens: 1, output_cost_micros_per_1m_tokens: 2 };
const limit = { metric: 'requests', period: 'day', limit_value: 10, enabled: true };

/** Each body has one fault. The answer names the field and says what to send instead. */
function badBodies(made: Made, memberId: string): readonly BadBody[] {
  const provider = (body: object, param: string, fix: RegExp): BadBody => ({
    line: 'POST /api/relay/providers',
    body: { name: 'Provider', base_url: https, ...body },
    param,
    fix,
  });
  const endpoint = (body: object, param: string, fix: RegExp): BadBody => ({
    line: 'POST /api/relay/endpoints',
    body: {
      provider_id: made.provider,
      name: 'Endpoint',
      upstream_model: 'm',
      route_kind: 'multi',
      ...body,
    },
    param,
    fix,
  });
  /** Names what is not there: the answer is that of a path. */
  const missing = (bad: BadBody): BadBody => ({ ...bad, answer: '404 not_found' });
  const key = (body: object, param: string, fix: RegExp): BadBody => ({
    line: 'POST /api/account/api-keys',
    body: { ...expiry, ...body },
    param,
    fix,
  });
  const policy = (body: object, param: string, fix: RegExp): BadBody => ({
    line: 'POST /api/relay/limit-policies',
    body: { scope_type: 'global', ...limit, ...body },
    param,
    fix,
  });
  const budget = (body: object, param: string, fix: RegExp): BadBody => ({
    line: 'POST /api/relay/pro/user-limit-policies',
    body: { user_uuid: memberId, target_type: 'global', ...limit, ...body },
    param,
    fix,
  });
  const membership = { lane_id: made.lane, endpoint_id: made.endpoint, manual_rank: 1 };
  const lane = { name: 'Lane', default_max_wait_ms: 1, allow_fallback: true, enabled: true };
  return [
    { line: 'PATCH /api/account', body: {}, param: 'name', fix: /required/ },
    { line: 'PATCH /api/account', body: { name: '' }, param: 'name', fix: /1 to 200 characters/ },
    {
      line: 'PATCH /api/account',
      body: { name: 'a\0b' },
      param: 'name',
      fix: /must not contain a NUL character/,
    },
    {
      line: 'PATCH /api/account',
      body: { name: 'a', role: 'owner' },
      param: 'role',
      fix: /known fields are/,
    },
    ...['', '   ', ' Acme', 'x'.repeat(201)].map((name) => {
      return { line: 'PATCH /api/org', body: { name }, param: 'name', fix: /characters|visible|space/ };
    }),
    {
      line: 'PATCH /api/account/preferences',
      body: { marketing_opt_in: 'yes' },
      param: 'marketing_opt_in',
      fix: /true or false/,
    },
    key({ scopes: [] }, 'scopes', /at least 1 item/),
    key({ scopes: ['relay:everything'] }, 'scopes', /GET \/api\/account\/api-key-scopes/),
    key({ expires_at: 'tomorrow' }, 'expires_at', /such as 2026-01-31T12:00:00.000Z or null/),
    key({ expires_at: '2020-01-01T00:00:00.000Z' }, 'expires_at', /in the future/),
    provider({ name: undefined }, 'name', /required/),
    provider({ base_url: 'ftp://example.com' }, 'base_url', /http or https URL/),
    provider({ base_url: 'https://user:pass@example.com' }, 'base_url', /user|credential|password/i),
    provider({ base_url: 'http://10.0.0.1/v1' }, 'base_url', /RELAY_ALLOW_PRIVATE_NETWORKS/),
    provider({ auth_mode: 'basic' }, 'auth_mode', /one of bearer_static, header_static, aws_sigv4/),
    provider({ auth_mode: 'aws_sigv4' }, 'aws_region', /needs aws_region/),
    provider({ auth_mode: 'client_certificate', base_url: 'http://example.com' }, 'base_url', /https/),
    provider({ auth_mode: 'header_static' }, 'auth_header_name', /needs auth_header_name/),
    provider({ auth_header_name: 'cookie' }, 'auth_header_name', /must not be cookie/),
    provider({ base_url: undefined }, 'base_url', /base_url is missing/),
    provider({ base_url: 'https://{resource}.example.com' }, 'base_url', /still has \{resource\}/),
    provider({ extra_headers: { Host: 'a' } }, 'extra_headers', /must not set host/),
    provider({ extra_headers: { 'x-api-key': 'a' } }, 'extra_headers', /store a credential/),
    provider({ extra_query: { a: 'b\n' } }, 'extra_query', /control characters/),
    provider({ max_latency_ms: 0 }, 'max_latency_ms', /from 1 to 3,600,000/),
    provider({ slug: 'mine' }, 'slug', /known fields are/),
    {
      line: 'POST /api/relay/credentials',
      body: { provider_id: NO_ID, name: 'main', secret: 'sk' },
      param: 'provider_id',
      answer: '404 not_found',
      fix: /ID of an existing one/,
    },
    {
      line: 'POST /api/relay/credentials',
      body: { provider_id: made.provider, name: 'main', secret: 'sk\n' },
      param: 'secret',
      fix: /without line breaks/,
    },
    endpoint({ route_kind: 'images' }, 'route_kind', /one of chat, responses, embeddings, messages, multi/),
    endpoint({ protocol: 'grpc' }, 'protocol', /one of openai, anthropic/),
    missing(endpoint({ provider_id: 'openai' }, 'provider_id', /ID of an existing one/)),
    missing(endpoint({ credential_id: NO_ID }, 'credential_id', /ID of an existing one/)),
    endpoint({ max_concurrency: 1.5 }, 'max_concurrency', /integer of 1 or more or null/),
    endpoint({ context_window: 3_000_000_000 }, 'context_window', /at most 2147483647/),
    {
      line: 'POST /api/relay/pricing-policies',
      body: { endpoint_id: made.endpoint, ...price, currency: 'EUR' },
      param: 'currency',
      fix: /"USD"/,
    },
    {
      line: 'POST /api/relay/pricing-policies',
      body: { endpoint_id: made.endpoint, ...price, input_cost_micros_per_1m_tokens: -1 },
      param: 'input_cost_micros_per_1m_tokens',
      fix: /integer of 0 or more/,
    },
    {
      line: 'POST /api/relay/pricing-policies',
      body: { endpoint_id: made.endpoint, ...price },
      param: 'endpoint_id',
      answer: '409 conflict',
      fix: /change/i,
    },
    {
      line: 'POST /api/relay/routing-lanes',
      body: { ...lane, selection: 'random' },
      param: 'selection',
      fix: /one of preferred, soonest/,
    },
    {
      line: 'POST /api/relay/routing-lanes',
      body: { ...lane, priority: 'urgent' },
      param: 'priority',
      fix: /one of interactive, standard, batch/,
    },
    {
      line: `PUT /api/relay/routing-lanes/${made.lane}`,
      body: { name: 'Lane' },
      param: 'default_max_wait_ms',
      fix: /required/,
    },
    {
      line: 'POST /api/relay/lane-memberships',
      body: { ...membership, manual_rank: '1' },
      param: 'manual_rank',
      fix: /an integer from 0/,
    },
    {
      line: 'POST /api/relay/lane-memberships',
      body: { ...membership, lane_id: NO_ID },
      param: 'lane_id',
      answer: '404 not_found',
      fix: /ID of an existing one/,
    },
    {
      line: 'POST /api/relay/lane-memberships',
      body: membership,
      param: 'endpoint_id',
      answer: '409 conflict',
      fix: /Change that membership/,
    },
    policy({ metric: 'dollars' }, 'metric', /one of requests, tokens, spend, concurrency/),
    policy({ metric: 'concurrency' }, 'period', /"none" when metric is "concurrency"/),
    policy({ period: 'none' }, 'period', /one of second, minute, hour, day, week, month/),
    policy({ scope_type: 'lane' }, 'scope_id', /must name the lane/),
    policy({ scope_id: made.lane }, 'scope_id', /must be null or omitted/),
    policy({ limit_value: -1 }, 'limit_value', /integer of 0 or more/),
    missing(budget({ user_uuid: NO_ID }, 'user_uuid', /ID of an existing one/)),
    missing(budget({ target_type: 'model', target_id: made.lane }, 'target_id', /ID of an existing one/)),
    budget({ limit_value: '10' }, 'limit_value', /integer/),
    {
      line: 'POST /api/relay/api-key-limit-policies',
      body: { api_key_uuid: 'rly_0123456789_abc', target_type: 'global', ...limit },
      param: 'api_key_uuid',
      fix: /the key’s ID/,
    },
    {
      line: 'POST /api/org/invitations',
      body: { email: 'nobody', role: 'viewer' },
      param: 'email',
      fix: /an email address/,
    },
    {
      line: `PATCH /api/org/members/${memberId}`,
      body: { status: 'invited' },
      param: 'status',
      fix: /"active" or "suspended"/,
    },
    {
      line: 'POST /api/relay/routing/explain',
      body: { operation: 'chat', body: {} },
      param: 'body.model',
      fix: /a lane or a model/,
    },
    {
      line: 'POST /api/relay/config/plan',
      body: { config: { version: 2 } },
      param: 'config.version',
      fix: /must be 1/,
    },
    {
      line: 'POST /api/relay/what-if',
      body: { config: { version: 1 }, days: 8 },
      param: 'days',
      fix: /from 1 to 7/,
    },
    {
      line: 'POST /api/relay/what-if',
      body: {
        edit: {
          operation: 'updateLane',
          id: memberId,
          body: { name: '', default_max_wait_ms: 0, allow_fallback: true, enabled: true },
        },
      },
      param: 'edit.body.name',
      fix: /1 to 200 characters/,
    },
    {
      line: 'POST /api/relay/config/apply',
      body: { config: { version: 1 }, prune: true, release: true },
      param: 'release',
      fix: /Send one of them/,
    },
    { line: 'POST /api/relay/routing-lanes', body: [], param: 'body', fix: /must be an object/ },
    {
      line: 'DELETE /api/relay/pro/user-limit-policies',
      body: undefined,
      param: 'limit_uuid',
      fix: /required/,
    },
  ];
}

/** Names that show nothing. */
const BLANKS: readonly string[] = ['   ', '\u200b\u200b', '\t\n', '\u2060\ufeff', '\u3164'];

function blankNames(made: Made): readonly BadBody[] {
  return BLANKS.flatMap((name) => {
    const bodies: readonly (readonly [line: string, body: object])[] = [
      ['POST /api/relay/providers', { base_url: https }],
      ['POST /api/relay/endpoints', { provider_id: made.provider, upstream_model: 'm', route_kind: 'chat' }],
      ['POST /api/relay/routing-lanes', {}],
      ['POST /api/relay/credentials', { provider_id: made.provider, secret: 'sk' }],
      ['POST /api/relay/guardrails', { base_url: https }],
      [`PUT /api/relay/endpoints/${made.endpoint}`, {}],
    ];
    return bodies.map(([line, body]) => ({ line, body: { ...body, name }, param: 'name', fix: /visible/ }));
  });
}

/** What only the server sets, with another value than it has. */
function serverFields(made: Made): readonly BadBody[] {
  const lane = { name: 'Lane', default_max_wait_ms: 1, allow_fallback: true, enabled: true };
  const scope = { scope_type: 'provider', scope_id: made.provider };
  const bodies: readonly (readonly [path: string, field: string, value: unknown, body?: object])[] = [
    [`providers/${made.provider}`, 'has_credential', false],
    [`endpoints/${made.endpoint}`, 'provider_id', NO_ID],
    [`routing-lanes/${made.lane}`, 'slug', 'another', lane],
    [`lane-memberships/${made.membership}`, 'lane_id', NO_ID, { manual_rank: 1, enabled: true }],
    [`limit-policies/${made.limitPolicy}`, 'id', NO_ID, { ...scope, ...limit, period: 'month' }],
    [`guardrails/${made.guardrail}`, 'binding_count', 7],
    [`credentials/${made.credential}`, 'created_at', '2020-01-01T00:00:00.000Z'],
    [`pricing-policies/${made.pricingPolicy}`, 'managed_by', 'file'],
  ];
  return bodies.map(([path, field, value, body = {}]) => ({
    line: `PUT /api/relay/${path}`,
    body: { ...body, [field]: value },
    param: field,
    fix: /chang|set by|server/i,
  }));
}

/** Answers how many were sent: those of routes that the mode has. */
export async function sendBadBodies({ walk, memberId }: World, caller: Caller, made: Made): Promise<number> {
  let sentCount = 0;
  const all = [...badBodies(made, memberId), ...blankNames(made), ...serverFields(made)];
  for (const { line, body, param, fix, answer = '400 invalid_request' } of all) {
    const route = routeOf(line);
    // A route that the mode has closed has other things to say.
    if (route === null || answerIn(walk.mode, route, answer) !== answer) continue;
    sentCount += 1;
    const sent = `${line} ${JSON.stringify(body)}`;
    const refused = await walk.expect(caller, line, answer, { body });
    const { error } = refused.body as { error?: { param?: string | null; message?: string } };
    const { message = '' } = error ?? {};
    if (error?.param !== param) walk.fault(`${sent}: the field is ${error?.param}, not ${param}: ${message}`);
    if (!message.includes(param) && param !== 'body' && refused.status === 400)
      walk.fault(`${sent}: the message names no field: ${message}`);
    if (!fix.test(message)) walk.fault(`${sent}: the message has no fix: ${message}`);
  }
  return sentCount;
}
