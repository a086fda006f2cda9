import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { type ErrorCode, errors } from '@relay/contract';
import type { Fault } from '@relay/provider-sim';
import { generateText } from 'ai';
import OpenAI from 'openai';
import { createLane, type EndpointSetup } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';

/** With an SDK's defaults: the first request and two retries. */
const SENDS_MAX = 3;
/** The AI SDK doesn't read `x-should-retry`. */
const REPEATED_BY_STATUS = (status: number) =>
  status === 408 || status === 409 || status === 429 || status >= 500;

type Spoken = 'chat' | 'messages';

/** An error, and how it comes about. Without `fault`, no provider is called. */
interface Occurrence {
  readonly what: string;
  /** Null: the error is the provider's own, with this status. */
  readonly code: ErrorCode | null;
  readonly status?: number;
  /** A retry can help, so that every library sends it again. */
  readonly retry?: boolean;
  readonly fault?: Fault;
  /** Given to the endpoint that speaks the client's protocol; the client's other protocol otherwise. */
  readonly translated?: Readonly<Record<Spoken, Fault>>;
  readonly endpoint?: Partial<EndpointSetup>;
  /** Of the request, instead of the lane's name. */
  readonly model?: string;
  readonly token?: string;
  /** A limit of the lane. */
  readonly limit?: Readonly<Record<string, unknown>>;
}

const UNTRANSLATABLE: Readonly<Record<Spoken, Fault>> = {
  chat: {
    body: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"half' } }],
          },
        },
      ],
    },
  },
  messages: {
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'So far' }],
      stop_reason: 'pause_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
};

const own = (status: number, said?: boolean): Occurrence => ({
  what: `the provider’s own ${status}${said === undefined ? '' : ` with x-should-retry: ${said}`}`,
  code: null,
  status,
  retry: said ?? REPEATED_BY_STATUS(status),
  fault: { status, ...(said === undefined ? {} : { headers: { 'x-should-retry': String(said) } }) },
});

const DAILY = { metric: 'requests', period: 'day' };

const OCCURRENCES: readonly Occurrence[] = [
  { what: 'a wrong key', code: 'invalid_api_key', token: 'not-a-key-of-this-deployment' },
  { what: 'an unknown model', code: 'model_not_found', model: 'nobody' },
  {
    what: 'no endpoint for the operation',
    code: 'no_route',
    endpoint: { endpoint: { route_kind: 'embeddings' } },
  },
  {
    what: 'a request larger than a limit',
    code: 'request_exceeds_limit',
    limit: { metric: 'tokens', period: 'day', limit_value: 1 },
  },
  { what: 'a budget that is used up', code: 'budget_exhausted', limit: { ...DAILY, limit_value: 1 } },
  {
    what: 'an unpriced endpoint under a spend limit',
    code: 'unpriced',
    limit: { metric: 'spend', period: 'day', limit_value: 1_000_000 },
  },
  {
    what: 'no connection',
    code: 'upstream_unreachable',
    retry: true,
    endpoint: { baseUrl: 'http://127.0.0.1:1/v1' },
  },
  {
    what: 'an aborted connection',
    code: 'upstream_unreachable',
    retry: true,
    fault: { cutBeforeHeaders: true },
  },
  {
    what: 'no answer in time',
    code: 'upstream_timeout',
    retry: true,
    fault: { stallBeforeHeaders: true },
    endpoint: { endpoint: { max_latency_ms: 200 } },
  },
  { what: 'half of a JSON text', code: 'upstream_invalid_response', fault: { malformedJson: true } },
  { what: 'a page', code: 'upstream_invalid_response', fault: { html200: true } },
  {
    what: 'a response that is cut off',
    code: 'upstream_invalid_response',
    retry: true,
    fault: { cutAfterBytes: 20 },
  },
  {
    what: 'a response that cannot be translated',
    code: 'upstream_invalid_response',
    translated: UNTRANSLATABLE,
  },
  ...[401, 402, 403, 407].map(
    (status): Occurrence => ({
      what: `a credential rejected with ${status}`,
      code: 'upstream_credential_refused',
      fault: { status },
    }),
  ),
  { what: 'a redirect', code: 'upstream_redirected', fault: { redirectTo: 'http://127.0.0.1:1/' } },
  ...[400, 404, 409, 422, 500, 503, 529].map((status) => own(status)),
  ...[409, 500, 503].map((status) => own(status, false)),
  own(422, true),
];

interface Sdk {
  readonly name: 'openai' | 'anthropic' | 'ai';
  readonly protocol: Spoken;
  readonly obeys: boolean;
  /** Sends a request with the library's own number of retries. */
  send(url: string, token: string, model: string, fetch: typeof globalThis.fetch): Promise<unknown>;
}

const SDKS: readonly Sdk[] = [
  {
    name: 'openai',
    protocol: 'chat',
    obeys: true,
    send: (url, apiKey, model, fetch) =>
      new OpenAI({ apiKey, baseURL: `${url}/v1`, fetch }).chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
  },
  {
    name: 'anthropic',
    protocol: 'messages',
    obeys: true,
    send: (url, apiKey, model, fetch) =>
      new Anthropic({ apiKey, baseURL: url, fetch }).messages.create({
        model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
  },
  {
    name: 'ai',
    protocol: 'chat',
    obeys: false,
    send: (url, apiKey, model, fetch) =>
      generateText({
        model: createOpenAICompatible({ name: 'relay', baseURL: `${url}/v1`, apiKey, fetch }).chatModel(
          model,
        ),
        prompt: 'Hello',
      }),
  },
];

export interface RetryFigures {
  /** Occurrences of errors, each with every SDK. */
  errors: number;
  /** Provider calls beyond the first, for errors that a retry can't change, by SDK. */
  readonly repeated: Record<Sdk['name'], number>;
}

/** Whether SDKs, as they are by default, repeat what can't succeed. */
export function describeRetryHints(figures: RetryFigures): void {
  describe('retries of the libraries, by their defaults', () => {
    let deployment: Deployment;

    before(async () => {
      const models = OCCURRENCES.flatMap((_, at) => SDKS.map(({ name }) => modelOf(at, name)));
      deployment = await startDeployment({ provider: { models } });
    });
    after(() => deployment.stop());

    for (const sdk of SDKS) {
      // Concurrently, because libraries wait for seconds between retries.
      describe(sdk.name, { concurrency: true }, () => {
        for (const [at, occurrence] of OCCURRENCES.entries())
          it(`${sdk.obeys ? 'obeys the hint' : 'goes by the status'}: ${occurrence.what}`, async () => {
            if (sdk.name === 'openai') figures.errors += 1;
            const { status, retry } = expected(occurrence);
            const model = modelOf(at, sdk.name);
            await setUp(deployment, sdk, occurrence, model);
            if (occurrence.code === 'budget_exhausted') await send(deployment, sdk, occurrence, model);
            const called = () => deployment.provider.log.filter((entry) => entry.model === model).length;
            const before = called();
            const seen = await send(deployment, sdk, occurrence, model);
            const repeats = sdk.obeys ? retry : REPEATED_BY_STATUS(status);
            assert.deepEqual(
              seen,
              Array.from({ length: repeats ? SENDS_MAX : 1 }, () => ({ status, hint: hintOf(occurrence) })),
            );
            const calls = called() - before;
            const reaches = occurrence.fault !== undefined || occurrence.translated !== undefined;
            assert.equal(calls, reaches ? seen.length : 0);
            if (!retry) figures.repeated[sdk.name] += Math.max(0, calls - 1);
          });
      });
    }
  });
}

function modelOf(at: number, sdk: string): string {
  return `retried-${at}-by-${sdk}`;
}

function expected({ code, status = 0, retry = false }: Occurrence): { status: number; retry: boolean } {
  return { status: code === null ? status : errors[code].status, retry };
}

/** The value of `x-should-retry`. */
function hintOf(occurrence: Occurrence): string | null {
  const headers = occurrence.fault?.headers;
  return occurrence.code === null
    ? (headers?.['x-should-retry'] ?? null)
    : String(expected(occurrence).retry);
}

/** A lane with its own endpoint, so that nothing that the provider says concerns another test. */
async function setUp(
  { admin, provider }: Deployment,
  sdk: Sdk,
  occurrence: Occurrence,
  model: string,
): Promise<void> {
  const { fault, translated, limit } = occurrence;
  const other = sdk.protocol === 'chat' ? 'messages' : 'chat';
  const spoken = translated === undefined ? sdk.protocol : other;
  const given = translated?.[spoken] ?? fault;
  if (given !== undefined) provider.script({ match: { model }, fault: given, persistent: true });
  const setup =
    spoken === 'messages'
      ? {
          provider: { auth_mode: 'header_static', auth_header_name: 'x-api-key' },
          endpoint: { protocol: 'anthropic', route_kind: 'messages', ...occurrence.endpoint?.endpoint },
        }
      : { endpoint: { route_kind: 'chat', ...occurrence.endpoint?.endpoint } };
  const endpoint = { baseUrl: provider.baseUrl, upstreamModel: model, ...occurrence.endpoint, ...setup };
  const { laneId } = await createLane(admin, {
    name: model,
    endpoints: [endpoint],
    lane: { default_max_wait_ms: 0 },
  });
  if (limit === undefined) return;
  await admin.create('/api/relay/limit-policies', {
    scope_type: 'lane',
    scope_id: laneId,
    enabled: true,
    ...limit,
  });
}

/** Every answer that the library got, until it gave up. */
async function send(
  { url, apiToken }: Deployment,
  sdk: Sdk,
  { model, token }: Occurrence,
  lane: string,
): Promise<{ status: number; hint: string | null }[]> {
  const seen: { status: number; hint: string | null }[] = [];
  const counting: typeof globalThis.fetch = async (input, init) => {
    const answer = await fetch(input, init);
    seen.push({ status: answer.status, hint: answer.headers.get('x-should-retry') });
    return answer;
  };
  await sdk.send(url, token ?? apiToken, model ?? lane, counting).catch(() => undefined);
  return seen;
}
