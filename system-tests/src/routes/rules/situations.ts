import { headers as names } from '@relay/contract';
import type { Fault } from '@relay/provider-sim';
import { BODY_BYTES_MAX } from '../../harness/hosted-deployment.ts';
import { CHAT, contents, EMBEDDINGS, operations, RESPONSES } from './scene.ts';

/** A request for inference, and what a client and the provider see of it. */
export interface Situation {
  readonly name: string;
  /** The lane or another name; `plain` unless given. */
  readonly model?: string;
  /** A chat unless given. */
  readonly path?: string;
  readonly method?: string;
  /** Added to a good body, or sent in its place as it is. */
  readonly body?: object;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fault?: Partial<Fault>;
  /** The status, and the code of an error. */
  readonly answer: string;
  readonly param?: string;
  readonly says?: RegExp;
  /** Which endpoint of the lane served, and how many failed before. */
  readonly chosen?: readonly [endpoint: 0 | 1, fallbacks: number];
  /** How many requests reach the provider: one for a success unless given. */
  readonly asked?: number;
  readonly expected?: Readonly<Record<string, string | RegExp | null>>;
}

const THROTTLE_SECONDS = 30;
/** Spacing and numbers that a gateway which reads and writes JSON again would not keep. */
export const odd = (status: number): string =>
  `{ "error" : {"message":"no, ${status}","n":12345678901234567890}, "x":1e400 }\n`;

const each = (situationOf: (path: string) => Omit<Situation, 'path'>): Situation[] =>
  operations.map((path) => {
    const situation = situationOf(path);
    return { ...situation, path, name: `${situation.name} (POST ${path})` };
  });
const bad = (param: string | null, body: object, path = CHAT): Situation => ({
  name: `${JSON.stringify(body)} on ${path}`,
  path,
  body,
  answer: param === null ? '400 invalid_json' : '400 invalid_request',
  ...(param === null ? {} : { param }),
});
const contentOf = (path: string): string => Object.keys(contents[path] ?? {})[0] ?? '';

const bodies: readonly Situation[] = [
  ...operations.flatMap((path) => [
    bad('model', { model: undefined }, path),
    bad('model', { model: 7 }, path),
    bad(contentOf(path), { [contentOf(path)]: undefined }, path),
    bad(contentOf(path), { [contentOf(path)]: 7 }, path),
    ...Object.entries({ 'no body': '', 'half a body': '{"model":', 'a list': '["model"]' }).map(
      ([what, raw]): Situation => ({ name: `${what} on ${path}`, path, raw, answer: '400 invalid_json' }),
    ),
  ]),
  bad('messages', { messages: [] }),
  bad('messages[0].role', { messages: ['Say hello.'] }),
  bad('messages[0].role', { messages: [{ content: 'a' }] }),
  bad('messages[0].role', { messages: [{ role: 7, content: 'a' }] }),
  {
    name: 'a body that nests without end',
    path: RESPONSES,
    raw: `{"a":${'['.repeat(1_000)}`,
    answer: '400 invalid_json',
  },
  ...each((path) => {
    const body = { model: 'plain', ...contents[path] };
    const text = JSON.stringify(body);
    return {
      name: 'a body of exactly the limit',
      raw: text + ' '.repeat(BODY_BYTES_MAX - text.length),
      answer: '200',
    };
  }),
  ...each(() => ({
    name: 'a body of one byte too many',
    raw: ' '.repeat(BODY_BYTES_MAX + 1),
    answer: '413 body_too_large',
  })),
];

const unfit = (model: string, says: RegExp, more: Partial<Situation> = {}): Situation => ({
  name: `the ${model}`,
  model,
  answer: '400 no_route',
  param: 'model',
  says,
  ...more,
});
const secondServes = (model: string, fallbacks = 0): Situation => ({
  name: `the lane "${model}" serves from its second endpoint`,
  model,
  answer: '200',
  chosen: [1, fallbacks],
});

const choices: readonly Situation[] = [
  ...['nothing-has-this-name', 'disabled lane'].flatMap((model) =>
    each(() => ({
      name: `the model "${model}"`,
      model,
      answer: '400 model_not_found',
      param: 'model',
      says: new RegExp(model),
    })),
  ),
  unfit('empty lane', /no endpoints/),
  unfit('disabled endpoint', /disabled/),
  unfit('chat only', /operation/, { path: EMBEDDINGS }),
  unfit('no streams', /streaming/, { body: { stream: true } }),
  { name: 'the same lane without a stream', model: 'no streams', answer: '200' },
  secondServes('first endpoint off'),
  secondServes('first membership off'),
  secondServes('first provider off'),
  secondServes('falls back', 1),
  {
    name: 'a lane without allow_fallback stays with its first endpoint',
    model: 'stays',
    answer: '502 upstream_unreachable',
  },
  ...each(() => ({
    name: 'a provider without a usable credential',
    model: 'unprepared',
    answer: '502 upstream_not_prepared',
    says: /^Endpoint "unprepared 1" of provider "unprepared 1" \(127\.0\.0\.1:\d+\) .*no enabled credential/,
  })),
  ...each(() => ({
    name: 'a provider that cannot be reached',
    model: 'unreachable',
    answer: '502 upstream_unreachable',
    says: /^Endpoint "unreachable 1" .*127\.0\.0\.1:1\) .*: connection refused\./,
  })),
  {
    name: 'a lane by its slug',
    model: 'first-endpoint-off',
    answer: '200',
  },
  { name: 'an upstream model', model: 'sim-multi', answer: '200' },
  { name: 'an upstream model of one provider', model: 'plain-1/sim-multi', answer: '200' },
];

const guards: readonly Situation[] = [
  ...[CHAT, RESPONSES].flatMap((path): Situation[] => [
    { name: `a guarded POST ${path}`, model: 'guarded', path, answer: '200' },
    {
      name: `a guarded stream of POST ${path}`,
      model: 'guarded',
      path,
      body: { stream: true },
      answer: '400 guardrail_streaming_unsupported',
      param: 'stream',
    },
    {
      name: `POST ${path} whose guardrail fails closed`,
      model: 'guard fails',
      path,
      answer: '503 guardrail_unavailable',
      expected: { 'retry-after': '1' },
    },
    {
      name: `POST ${path} that a guardrail blocks`,
      model: 'guard blocks',
      path,
      answer: '403 content_policy_violation',
    },
  ]),
  {
    name: 'guarded embeddings',
    model: 'guarded',
    path: EMBEDDINGS,
    answer: '400 guardrail_route_kind_unsupported',
    param: 'model',
  },
];

/** The provider throttles once, with nowhere else to go; what comes next does not fit the wait budget. */
const throttles: readonly Situation[] = [
  {
    name: 'a provider’s throttle is passed on with its Retry-After',
    model: 'throttled',
    fault: { status: 429, retryAfter: String(THROTTLE_SECONDS) },
    answer: '429 rate_limit_exceeded',
    asked: 1,
    expected: { 'retry-after': String(THROTTLE_SECONDS), [names.errorSource]: 'upstream' },
  },
  ...each(() => ({
    name: 'the request after it',
    model: 'throttled',
    answer: '429 rate_limit_wait_budget_exceeded',
    expected: { 'retry-after': /^(30|[12]?\d)$/ },
  })),
];

const passed: readonly Situation[] = each(() => ({
  name: '422 of the provider passes, bytes and all',
  fault: {
    status: 422,
    bodyBase64: Buffer.from(odd(422)).toString('base64'),
    headers: { 'x-note': 'not ours', 'openai-version': '2020-10-01' },
  },
  answer: '422 without a code',
  asked: 1,
  expected: { [names.errorSource]: 'upstream', 'x-note': null, 'openai-version': '2020-10-01' },
}));

const wrongKeys: Readonly<Record<string, string>> = {
  '': '401 missing_api_key',
  'Basic eDp5': '401 missing_api_key',
  'Bearer ': '401 missing_api_key',
  'Bearer rly_nobody': '401 invalid_api_key',
};
const takes: readonly (readonly [method: string, path: string, allow: string])[] = [
  ['GET', CHAT, 'POST'],
  ['PUT', RESPONSES, 'POST'],
  ['DELETE', EMBEDDINGS, 'POST'],
  ['POST', '/v1/models', 'GET, HEAD'],
  ['PATCH', '/v1/models/plain', 'GET, HEAD'],
];

/** Strangers, and what is not there. */
const doors: readonly Situation[] = [
  ...Object.entries(wrongKeys).flatMap(([authorization, answer]) => [
    ...each(() => ({ name: `Authorization: ${authorization}`, headers: { authorization }, answer })),
    ...['/v1/models', '/v1/models/nothing'].map(
      (path): Situation => ({
        name: `Authorization: ${authorization} on ${path}`,
        path,
        method: 'GET',
        headers: { authorization },
        answer,
      }),
    ),
  ]),
  ...['/v1/', '/v1/completions', '/v1/chat/completions//', '/v1/model/x', '/v1//models'].flatMap((path) =>
    [{}, { authorization: '' }].map((headers): Situation => {
      const name = `${path} with ${JSON.stringify(headers)}`;
      return { name, path, method: 'GET', headers, answer: '404 route_not_found' };
    }),
  ),
  { name: 'the model list', path: '/v1/models', method: 'GET', answer: '200', asked: 0 },
  {
    name: 'a model that nothing is called',
    path: '/v1/models/nothing',
    method: 'GET',
    answer: '404 not_found',
    param: 'model',
  },
  {
    name: 'a model whose name is not UTF-8',
    path: '/v1/models/%ff',
    method: 'GET',
    answer: '400 invalid_request',
    param: 'model',
  },
  ...takes.map(
    ([method, path, allow]): Situation => ({
      name: `${method} ${path}`,
      method,
      path,
      answer: '405 method_not_allowed',
      expected: { allow },
    }),
  ),
];

export const situations: readonly Situation[] = [
  ...bodies,
  ...choices,
  ...guards,
  ...throttles,
  ...passed,
  ...doors,
];
