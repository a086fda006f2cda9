import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type errors, headers as names } from '@relay/contract';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { modes, pathOf, requestText } from '../harness/mode.ts';
import { exchangeRaw, openRaw, type RawAnswer, type RawRequest } from '../harness/raw-exchange.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { checkWaitBudgetRefusal } from '../harness/wait-budget-refusal.ts';
import { checkNames, checkOwn, errorOf } from './check-own.ts';

// The specification's table of errors, row by row, as far as inference is concerned.

const BODY_BYTES_MAX = 65_536;
const WORDS = 'Say hello.';
const MODEL = 'sim-multi';

let deployment: Deployment;
let rows = 0;
let wrong = 0;

function row(name: string, work: () => Promise<void>): void {
  it(name, async () => {
    rows += 1;
    try {
      await work();
    } catch (error) {
      wrong += 1;
      throw error;
    }
  });
}

/** Calls `/v1`, with the right key by default. Every response must have a request ID and its timing headers. */
async function call(
  path: string,
  more: Partial<RawRequest> = {},
  process?: RelayProcess,
): Promise<RawAnswer> {
  const answer = await exchangeRaw({
    url: `${process?.url ?? deployment.url}${path}`,
    ...more,
    headers: { authorization: `Bearer ${deployment.apiToken}`, ...more.headers },
  });
  assert.match(answer.headers[names.requestId] ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
  assert.match(answer.headers[names.overheadMs] ?? '', /^\d+\.\d\d$/);
  return answer;
}

function chat(body: string): Promise<RawAnswer> {
  return call('/v1/chat/completions', { body });
}

before(async () => {
  deployment = await startDeployment({ env: { RELAY_MAX_BODY_BYTES: String(BODY_BYTES_MAX) } });
  const { admin, provider } = deployment;
  const endpoint = { baseUrl: provider.baseUrl, upstreamModel: MODEL };
  const closed = { baseUrl: 'http://127.0.0.1:1/v1', upstreamModel: MODEL };
  const without = (name: string, more: Record<string, unknown>) =>
    createLane(admin, { name, endpoints: [{ ...endpoint, endpoint: more }] });
  await createLane(admin, { name: 'alone', endpoints: [endpoint], lane: { allow_fallback: false } });
  await createLane(admin, { name: 'impatient', endpoints: [endpoint], lane: { default_max_wait_ms: 0 } });
  await createLane(admin, { name: 'unreachable', endpoints: [closed] });
  await createLane(admin, { name: 'disabled lane', endpoints: [endpoint], lane: { enabled: false } });
  await createLane(admin, { name: 'empty lane', endpoints: [] });
  await without('disabled endpoint', { enabled: false });
  await without('chat only', { route_kind: 'chat' });
  await without('no streams', { supports_streaming: false });
  const unprepared = await createLane(admin, { name: 'unprepared', endpoints: [endpoint] });
  const [providerId] = unprepared.providerIds;
  const listed = await admin.call('GET', '/api/relay/credentials');
  const credentials = listed.body as { id: string; provider_id: string }[];
  const credential = credentials.find((each) => each.provider_id === providerId);
  const deleted = await admin.call('DELETE', `/api/relay/credentials/${credential?.id}`);
  assert.equal(deleted.status, 204);
});

after(async () => {
  await deployment.stop();
  reportFigures({ rows, wrong });
});

describe('400: invalid request', () => {
  const cases: [string, string, string, 'invalid_json' | 'invalid_request', string | null][] = [
    ['a body that is empty', '/chat/completions', '', 'invalid_json', null],
    ['a body that is not JSON', '/chat/completions', '{"model":', 'invalid_json', null],
    ['a body that is not an object', '/responses', '["model"]', 'invalid_json', null],
    ['a body that is not UTF-8', '/embeddings', '', 'invalid_json', null],
    ['a body that nests without end', '/responses', `{"a":${'['.repeat(1_000)}`, 'invalid_json', null],
    ['no model', '/chat/completions', '{"messages":[{"role":"user"}]}', 'invalid_request', 'model'],
    ['a model that is not a string', '/responses', '{"model":1,"input":"a"}', 'invalid_request', 'model'],
    ['no messages', '/chat/completions', '{"model":"alone"}', 'invalid_request', 'messages'],
    ['no message', '/chat/completions', '{"model":"alone","messages":[]}', 'invalid_request', 'messages'],
    [
      'a message without a role',
      '/chat/completions',
      '{"model":"alone","messages":[{"content":"a"}]}',
      'invalid_request',
      'messages[0].role',
    ],
    ['no input for a response', '/responses', '{"model":"alone"}', 'invalid_request', 'input'],
    ['no input to embed', '/embeddings', '{"model":"alone","input":5}', 'invalid_request', 'input'],
  ];
  for (const [what, path, text, code, param] of cases) {
    row(`400: ${what} is ${code}`, async () => {
      const body = what.endsWith('UTF-8') ? Buffer.from('{"model":"\xff"}', 'latin1') : text;
      await checkOwn(await call(`/v1${path}`, { body }), code, param);
    });
  }
});

describe('400: route selection failure', () => {
  row('400: a name that nothing has is model_not_found', async () => {
    const answer = await chat(requestText(modes.chat, 'nobody', WORDS));
    await checkOwn(answer, 'model_not_found', 'model');
    assert.match(String(errorOf(answer)['message']), /"nobody"/);
  });
  row('400: a disabled lane is model_not_found', async () => {
    await checkOwn(await chat(requestText(modes.chat, 'disabled lane', WORDS)), 'model_not_found', 'model');
  });
  const unfit: [string, keyof typeof modes, RegExp][] = [
    ['empty lane', 'chat', /no endpoints/],
    ['disabled endpoint', 'chat', /disabled/],
    ['chat only', 'embeddings', /operation/],
    ['no streams', 'chat stream', /streaming/],
  ];
  for (const [lane, modeName, why] of unfit) {
    row(`400: ${lane}, asked for ${modeName}, is no_route and says why`, async () => {
      const mode = modes[modeName];
      const answer = await call(`/v1${pathOf(mode)}`, { body: requestText(mode, lane, WORDS) });
      await checkOwn(answer, 'no_route', 'model');
      assert.match(String(errorOf(answer)['message']), why);
    });
  }
});

describe('401: missing or invalid API key', () => {
  const cases: [string, () => Record<string, string>, 'missing_api_key' | 'invalid_api_key'][] = [
    ['an empty Authorization header', () => ({ authorization: '' }), 'missing_api_key'],
    ['another scheme', () => ({ authorization: 'Basic eDp5' }), 'missing_api_key'],
    ['a scheme without a key', () => ({ authorization: 'Bearer ' }), 'missing_api_key'],
    ['an unknown key', () => ({ authorization: 'Bearer rly_nobody' }), 'invalid_api_key'],
    [
      'the other door’s token',
      () => ({ authorization: `Bearer ${deployment.adminToken}` }),
      'invalid_api_key',
    ],
    ['most of a key', () => ({ authorization: `Bearer ${deployment.apiToken.slice(1)}` }), 'invalid_api_key'],
  ];
  const calls: [string, string, RawRequest['method']][] = [
    ['chat', '/v1/chat/completions', 'POST'],
    ['responses', '/v1/responses', 'POST'],
    ['embeddings', '/v1/embeddings', 'POST'],
    ['models', '/v1/models', 'GET'],
  ];
  for (const [operation, path, method = 'POST'] of calls) {
    for (const [what, headers, code] of cases) {
      row(`401: ${what} on ${operation} is ${code}`, async () => {
        const body = method === 'POST' ? { body: requestText(modes.chat, 'alone', WORDS) } : {};
        const seen = deployment.provider.log.length;
        await checkOwn(await call(path, { method, headers: headers(), ...body }), code);
        assert.equal(deployment.provider.log.length, seen, 'nothing is sent for a stranger');
      });
    }
  }
});

describe('403', () => {
  row('403: a provider that forbids Relay’s credential is 502 upstream_credential_refused', () =>
    checkRejected(403, 'upstream_credential_refused'),
  );
});

describe('413: request body exceeds the configured size limit', () => {
  row('413: a length that is announced is refused before it is sent', async () => {
    const outgoing = openRaw({
      url: `${deployment.url}/v1/chat/completions`,
      headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-length': '1000000000' },
      body: '',
    });
    const answered = new Promise<{ status: number; requestId: unknown }>((resolve, reject) => {
      outgoing.once('response', ({ statusCode = 0, headers }) => {
        resolve({ status: statusCode, requestId: headers['x-request-id'] });
      });
      outgoing.once('error', reject);
    });
    outgoing.flushHeaders();
    const { status, requestId } = await answered;
    outgoing.on('error', () => undefined).destroy();
    assert.equal(status, 413);
    assert.ok(requestId);
  });
  for (const [what, mode] of [
    ['chat', modes.chat],
    ['responses', modes.responses],
    ['embeddings', modes.embeddings],
  ] as const) {
    row(`413: one byte too many for ${what} is body_too_large and names the limit`, async () => {
      const text = requestText(mode, 'alone', WORDS);
      const fits = text + ' '.repeat(BODY_BYTES_MAX - text.length);
      assert.equal((await call(`/v1${pathOf(mode)}`, { body: fits })).status, 200);
      const answer = await call(`/v1${pathOf(mode)}`, { body: `${fits} ` });
      await checkOwn(answer, 'body_too_large');
      assert.equal(errorOf(answer)['limit_bytes'], BODY_BYTES_MAX);
    });
  }
  row('413: a body without a length is refused at the byte that goes over', async () => {
    const answer = await call('/v1/chat/completions', {
      headers: { 'transfer-encoding': 'chunked', 'content-type': 'application/json' },
      unannounced: Buffer.alloc(BODY_BYTES_MAX + 1, ' '),
    });
    await checkOwn(answer, 'body_too_large');
  });
});

describe('429: no candidate fits the wait budget, or an unhandled provider throttle', () => {
  row('429: a provider’s throttle with nowhere else to go is passed on with its Retry-After', async () => {
    const answer = await chat(withFault('impatient', { status: 429, retryAfter: '7' }));
    assert.equal(answer.status, 429);
    assert.equal(answer.headers[names.errorSource], 'upstream');
    assert.equal(answer.headers['retry-after'], '7');
    assert.equal(errorOf(answer)['code'], 'rate_limit_exceeded');
  });
  row('429: the next request does not fit the wait budget and is told when it will', async () => {
    const answer = await chat(requestText(modes.chat, 'impatient', WORDS));
    checkWaitBudgetRefusal(answer, 7);
    await checkOwn(answer, 'rate_limit_wait_budget_exceeded');
  });
});

describe('502: selected upstream could not be prepared or failed after bounded handling', () => {
  row('502: a provider without a usable credential is upstream_not_prepared', async () => {
    const answer = await chat(requestText(modes.chat, 'unprepared', WORDS));
    await checkOwn(answer, 'upstream_not_prepared');
    checkNames(answer, 'unprepared 1', /no enabled credential/);
  });
  row('502: a provider that cannot be reached is upstream_unreachable', async () => {
    const answer = await chat(requestText(modes.chat, 'unreachable', WORDS));
    await checkOwn(answer, 'upstream_unreachable');
    checkNames(answer, 'unreachable 1', /127\.0\.0\.1:1\) .*: connection refused\./);
  });
  row('502: an answer that cannot be read is upstream_invalid_response', async () => {
    const answer = await chat(withFault('alone', { malformedJson: true }));
    await checkOwn(answer, 'upstream_invalid_response');
    checkNames(answer, 'alone 1', /not a complete JSON object/);
  });
  row('502: an answer that does not come is upstream_timeout', async () => {
    await deployment.beside({ env: { RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: '200' } }, async (hurried) => {
      const body = withFault('alone', { stallBeforeHeaders: true });
      const answer = await call('/v1/chat/completions', { body }, hurried);
      await checkOwn(answer, 'upstream_timeout');
      checkNames(answer, 'alone 1', /no response within 200 ms/);
      assert.equal(await hurried.stop(), 0);
    });
  });
});

describe('502: the provider rejects our credential or address', () => {
  for (const status of [401, 402, 407])
    row(`502: ${status} of the provider is upstream_credential_refused`, () =>
      checkRejected(status, 'upstream_credential_refused'),
    );
  for (const status of [301, 302, 303, 304, 307, 308])
    row(`502: ${status} of the provider is upstream_redirected`, () =>
      checkRejected(status, 'upstream_redirected'),
    );
});

describe('503: the service is unavailable', () => {
  row('503: a process that is stopping answers draining with Retry-After', async () => {
    await deployment.beside({}, async (leaving) => {
      // A stream in flight keeps the draining process running.
      const slow = openRaw({
        url: `${leaving.url}/v1/chat/completions`,
        headers: { authorization: `Bearer ${deployment.apiToken}` },
        body: streamWithFault('alone', { frames: 20, frameDelayMs: 100 }),
      });
      slow.end(streamWithFault('alone', { frames: 20, frameDelayMs: 100 }));
      await new Promise((resolve) =>
        slow.once('response', (answer) => answer.resume().once('data', resolve)),
      );
      const stopped = leaving.stop();
      while ((await fetch(`${leaving.url}/readyz`)).status !== 503);
      for (const mode of [modes.chat, modes.responses, modes.embeddings]) {
        const body = requestText(mode, 'alone', WORDS);
        const answer = await call(`/v1${pathOf(mode)}`, { body }, leaving);
        await checkOwn(answer, 'draining');
        assert.equal(answer.headers['retry-after'], '1');
      }
      assert.equal(await stopped, 0);
    });
  });
  row('503: a provider that says so is passed on as it is', () => checkPassed(503));
});

describe('other: provider status and body pass through unchanged', () => {
  for (const status of [400, 404, 405, 408, 409, 410, 413, 415, 418, 422, 451, 500, 501, 504, 529]) {
    row(`other: ${status} of the provider passes, bytes and all`, () => checkPassed(status));
  }
});

describe('404 and 405 below /v1', () => {
  for (const path of ['/v1/', '/v1/completions', '/v1/chat/completions//', '/v1/model/x', '/v1//models']) {
    row(`404: ${path} is route_not_found, whoever asks`, async () => {
      await checkOwn(await call(path, { method: 'GET' }), 'route_not_found');
      await checkOwn(await call(path, { body: '{}', headers: { authorization: '' } }), 'route_not_found');
    });
  }
  row('404: a model that nothing is called is not_found, to those with a key', async () => {
    await checkOwn(await call('/v1/models/nobody', { method: 'GET' }), 'not_found', 'model');
    const stranger = { method: 'GET', headers: { authorization: '' } };
    await checkOwn(await call('/v1/models/nobody', stranger), 'missing_api_key');
    await checkOwn(await call('/v1/models/%ff', { method: 'GET' }), 'invalid_request', 'model');
  });
  row('426: a WebSocket is upgrade_required, on every path that takes POST', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    for (const path of ['/v1/responses', '/v1/chat/completions', '/v1/responses/'])
      await checkOwn(await call(path, { method: 'GET', headers }), 'upgrade_required');
  });
  const methods: [string, string, string][] = [
    ['GET', '/v1/chat/completions', 'POST'],
    ['PUT', '/v1/responses', 'POST'],
    ['DELETE', '/v1/embeddings', 'POST'],
    ['POST', '/v1/models', 'GET, HEAD'],
    ['PATCH', '/v1/models/alone', 'GET, HEAD'],
  ];
  for (const [method, path, allowed] of methods) {
    row(`405: ${method} ${path} says that it takes ${allowed}`, async () => {
      const answer = await call(path, { method });
      await checkOwn(answer, 'method_not_allowed');
      assert.equal(answer.headers['allow'], allowed);
    });
  }
});

describe('every answer', () => {
  row('200: an inference answer carries its id and its cost', async () => {
    // The lane's provider does not speak Messages, and the odd bytes of these requests cannot be translated.
    for (const mode of Object.values(modes).filter(({ operation }) => operation !== 'messages')) {
      const answer = await call(`/v1${pathOf(mode)}`, { body: requestText(mode, 'alone', WORDS) });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers[names.errorSource], undefined);
    }
  });
  row('200: the model list carries its id and its cost', async () => {
    assert.equal((await call('/v1/models', { method: 'GET' })).status, 200);
  });
  row('the id is ours, also when the client brings its own', async () => {
    const mine = '00000000-0000-7000-8000-000000000000';
    const answer = await call('/v1/models', { method: 'GET', headers: { 'x-request-id': mine } });
    assert.notEqual(answer.headers[names.requestId], mine);
  });
});

function withFault(lane: string, fault: Record<string, unknown>): string {
  const text = requestText(modes.chat, lane, WORDS);
  return `${text.slice(0, -1)},"sim":${JSON.stringify(fault)}}`;
}

function streamWithFault(lane: string, fault: Record<string, unknown>): string {
  const text = requestText(modes['chat stream'], lane, WORDS);
  return `${text.slice(0, -1)},"sim":${JSON.stringify(fault)}}`;
}

/** Unusual spacing and a number too large for JavaScript, which survive only if the bytes pass unchanged. */
/** The provider's answer concerns our configuration: nothing of it reaches the client. */
async function checkRejected(status: number, code: keyof typeof errors): Promise<void> {
  for (const streaming of [false, true]) {
    const build = streaming ? streamWithFault : withFault;
    const headers = { location: 'http://127.0.0.1:9/elsewhere', 'www-authenticate': 'Basic' };
    const answer = await chat(
      build('alone', { status, headers, body: { error: { message: 'private words' } } }),
    );
    await checkOwn(answer, code);
    checkNames(answer, 'alone 1');
    assert.ok(!answer.body.includes('private words'));
    for (const name of Object.keys(headers)) assert.equal(answer.headers[name], undefined, name);
  }
}

async function checkPassed(status: number): Promise<void> {
  const words = `{ "error" : {"message":"no, ${status}","n":12345678901234567890}, "x":1e400 }\n`;
  for (const streaming of [false, true]) {
    const build = streaming ? streamWithFault : withFault;
    const fault = {
      status,
      bodyBase64: Buffer.from(words).toString('base64'),
      headers: { 'x-note': 'not ours', 'openai-version': '2020-10-01' },
    };
    const answer = await chat(build('alone', fault));
    assert.equal(answer.status, status);
    assert.equal(answer.body.toString(), words);
    assert.equal(answer.headers[names.errorSource], 'upstream');
    assert.equal(answer.headers['x-note'], undefined);
    assert.equal(answer.headers['openai-version'], '2020-10-01');
    assert.equal(answer.headers[names.selectedEndpoint.toLowerCase()], 'alone 1');
    assert.equal(answer.headers[names.fallbackCount.toLowerCase()], '0');
  }
}
