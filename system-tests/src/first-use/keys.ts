import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { it } from 'node:test';
import { headers } from '@relay/contract';
import type { ProviderSim } from '@relay/provider-sim';
import OpenAI from 'openai';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { requestWhenLogged } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';

// A lane, and API keys from the first start, without accounts: a key is created, used, limited and revoked.

export interface Key {
  readonly id: string;
  readonly secret: string;
}

/** A deployment that a newcomer has just started. */
export interface Newcomer {
  readonly url: string;
  /** Where inference is served: a process that has never seen the key, if there are several. */
  readonly inferenceUrl: string;
  readonly apiToken: string;
  readonly adminToken: string;
  readonly admin: AdminClient;
  readonly provider: ProviderSim;
  /** `relay keys create …`, as the documentation writes it. */
  createByCommand(): Promise<{ readonly api_key: string; readonly key: { readonly scopes: string[] } }>;
}

const REQUESTS_MAX = 2;
const CONFIGURED_MS_MAX = 10_000;
const MODEL = 'gpt-4o';
const ask = { model: 'first-lane', messages: [{ role: 'user' as const, content: 'Say hello.' }] };

export async function createKey(admin: AdminClient, body: object): Promise<Key> {
  const { api_key, key } = (await admin.create('/api/account/api-keys', body)) as unknown as {
    api_key: string;
    key: { id: string };
  };
  return { id: key.id, secret: api_key };
}

/** The status and error code of a request for a completion. */
export async function complete(url: string, token: string): Promise<{ said: string; requestId: string }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(ask),
  });
  const body = (await response.json()) as { error?: { code: string } };
  const code = body.error === undefined ? '' : ` ${body.error.code}`;
  return { said: `${response.status}${code}`, requestId: response.headers.get('x-request-id') ?? '' };
}

/** Tests of the first lane. They end with a lane that the tests of keys use. */
export function itServesFirstLane(newcomer: () => Newcomer): void {
  it('gives the openai client a completion through a lane, with true headers', async () => {
    const { admin, provider, apiToken, url } = newcomer();
    const setup = { baseUrl: provider.baseUrl, upstreamModel: MODEL };
    const lane = await createLane(admin, { name: 'First lane', endpoints: [setup] });
    const client = new OpenAI({ apiKey: apiToken, baseURL: `${url}/v1`, maxRetries: 0 });
    const { data, response } = await client.chat.completions.create(ask).withResponse();
    assert.ok(data.choices[0]?.message.content);
    const header = (name: string) => response.headers.get(name);
    assert.equal(header(headers.selectedEndpoint), 'First lane 1');
    assert.equal(header(headers.selectedEndpointId), lane.endpointIds[0]);
    assert.equal(header(headers.selectedProviderId), lane.providerIds[0]);
    assert.equal(header(headers.selectedUpstreamModel), MODEL);
    assert.equal(header(headers.waitMs), '0');
    assert.equal(header(headers.fallbackCount), '0');
    assert.ok(Number(header(headers.estimatedInputTokens)) > 0);
    assert.ok(Number(header(headers.estimatedOutputTokens)) > 0);
    assert.equal(Number(header(headers.actualInputTokens)), data.usage?.prompt_tokens);
    assert.equal(Number(header(headers.actualOutputTokens)), data.usage?.completion_tokens);
    assert.equal(Number(header(headers.actualTotalTokens)), data.usage?.total_tokens);
    assert.match(header(headers.requestId) ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    assert.equal((data as { _request_id?: string })._request_id, header(headers.requestId));
  });

  it('sends the provider its own credential and model, and nothing of the client', () => {
    const [entry] = newcomer().provider.log;
    assert.equal(entry?.key, 'sk-upstream');
    assert.equal(entry?.model, MODEL);
    assert.deepEqual(entry?.violations, []);
  });

  it('lists the lane and its model, both of them callable', async () => {
    const { apiToken, inferenceUrl } = newcomer();
    const client = new OpenAI({ apiKey: apiToken, baseURL: `${inferenceUrl}/v1`, maxRetries: 0 });
    const wanted = [MODEL, 'first-lane'];
    const list = async () => (await client.models.list()).data.map(({ id }) => id);
    // A process learns of a new lane when it looks for changes.
    await until(async () => (await list()).includes('first-lane'), CONFIGURED_MS_MAX);
    assert.deepEqual(
      (await list()).filter((id) => wanted.includes(id)),
      wanted,
    );
    for (const model of wanted) assert.ok((await client.chat.completions.create({ ...ask, model })).id);
  });
}

/** Tests of the tokens, and of keys. */
export function itKnowsKeys(newcomer: () => Newcomer, app: () => Key): void {
  const completion = (token: string) => complete(newcomer().inferenceUrl, token);

  async function manage(token: string, method: string, path: string, body?: object): Promise<string> {
    const answer = await adminClient(newcomer().url, token).call(method, path, body);
    const { error } = (answer.body ?? {}) as { error?: { code: string } };
    return `${answer.status}${error === undefined ? '' : ` ${error.code}`}`;
  }

  const refusals: [string, () => string | null, 'inference' | 'management', string][] = [
    ['no token on inference', () => null, 'inference', 'missing_api_key'],
    ['no token on management', () => null, 'management', 'missing_api_key'],
    ['a wrong token on inference', () => 'wrong', 'inference', 'invalid_api_key'],
    ['a wrong token on management', () => 'wrong', 'management', 'invalid_api_key'],
    ['the admin token on inference', () => newcomer().adminToken, 'inference', 'invalid_api_key'],
    ['the API token on management', () => newcomer().apiToken, 'management', 'invalid_api_key'],
  ];
  for (const [what, token, door, code] of refusals) {
    it(`${what} gets 401 ${code} in the error shape`, async () => {
      const path = door === 'inference' ? '/v1/models' : '/api/relay/providers';
      const value = token();
      const response = await fetch(newcomer().url + path, {
        headers: value === null ? {} : { authorization: `Bearer ${value}` },
      });
      assert.equal(response.status, 401);
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      assert.equal(error['code'], code);
      assert.equal(error['type'], 'authentication_error');
      assert.equal(error['request_id'], response.headers.get('x-request-id'));
      assert.equal((await fetch(String(error['doc_url']))).status, 200);
    });
  }

  it('the key of the implicit owner gets a completion, and its row in the ledger names the key', async () => {
    const { admin } = newcomer();
    const { said, requestId } = await completion(app().secret);
    assert.equal(said, '200');
    const row = await requestWhenLogged(admin, { requestId });
    assert.equal(row.api_key_id, app().id);
    const { body } = await admin.call('GET', '/api/account');
    assert.equal(row.user_uuid, (body as { user: { id: string } }).user.id);
  });

  it('the command of the documentation creates a key, with the settings of the server alone', async () => {
    const { api_key, key } = await newcomer().createByCommand();
    assert.deepEqual(key.scopes, ['relay:request']);
    assert.equal((await completion(api_key)).said, '200');
  });

  it('the tokens keep working', async () => {
    const { apiToken, adminToken } = newcomer();
    assert.equal((await completion(apiToken)).said, '200');
    assert.equal(await manage(adminToken, 'GET', '/api/account'), '200');
  });

  it('a key without management scopes manages nothing and reads no request', async () => {
    const asks: [string, string, object?][] = [
      ['GET', '/api/relay/requests'],
      ['GET', '/api/relay/providers'],
      ['GET', '/api/org/api-keys'],
      ['POST', '/api/account/api-keys', { name: 'More', scopes: ['relay:request'] }],
      ['DELETE', `/api/account/api-keys/${app().id}`],
      ['DELETE', `/api/relay/api-key-limit-policies?limit_uuid=${randomUUIDv7()}`],
    ];
    for (const [method, path, body] of asks)
      assert.equal(
        await manage(app().secret, method, path, body),
        '403 insufficient_scope',
        `${method} ${path}`,
      );
  });

  it('a key with a management scope manages that, sends no requests and grants no more', async () => {
    const scopes = ['relay:providers:manage', 'cloud:account:manage'];
    const { secret } = await createKey(newcomer().admin, { name: 'Deploy', scopes });
    assert.equal(await manage(secret, 'GET', '/api/relay/providers'), '200');
    assert.equal(await manage(secret, 'GET', '/api/relay/requests'), '403 insufficient_scope');
    assert.equal((await completion(secret)).said, '403 insufficient_scope');
    const broader = { name: 'Broader', scopes: ['relay:request'] };
    assert.equal(await manage(secret, 'POST', '/api/account/api-keys', broader), '403 permission_denied');
  });

  it('the limit of a key is enforced for that key alone', async () => {
    const { admin } = newcomer();
    const limited = await createKey(admin, { name: 'Limited', scopes: ['relay:request'] });
    const policy = {
      api_key_uuid: limited.id,
      target_type: 'global',
      metric: 'requests',
      period: 'day',
      limit_value: REQUESTS_MAX,
    };
    assert.equal((await admin.call('POST', '/api/relay/api-key-limit-policies', policy)).status, 200);
    const answers: string[] = [];
    for (let sent = 0; sent <= REQUESTS_MAX; sent += 1) answers.push((await completion(limited.secret)).said);
    assert.deepEqual(answers, [...Array(REQUESTS_MAX).fill('200'), '429 budget_exhausted']);
    assert.equal((await completion(app().secret)).said, '200');
  });

  it('an expired key and a revoked key are rejected from the next request on', async () => {
    const { admin } = newcomer();
    const expiresMs = Date.now() + 1_500;
    const expires_at = new Date(expiresMs).toISOString();
    const brief = await createKey(admin, { name: 'Brief', scopes: ['relay:request'], expires_at });
    const revoked = await createKey(admin, { name: 'Revoked', scopes: ['relay:request'] });
    assert.equal((await completion(revoked.secret)).said, '200');
    assert.equal((await admin.call('DELETE', `/api/account/api-keys/${revoked.id}`)).status, 204);
    assert.equal((await completion(revoked.secret)).said, '401 revoked_api_key');
    assert.ok(
      await until(async () => (await completion(brief.secret)).said === '401 expired_api_key', 10_000),
    );
    assert.ok(Date.now() >= expiresMs);
    assert.equal((await completion(app().secret)).said, '200');
  });
}

/** A key from before accounts works in a process with accounts, and so does one that is created there. */
export async function worksWithAccounts(url: string, adminToken: string, app: Key): Promise<void> {
  assert.equal((await complete(url, app.secret)).said, '200');
  const later = await createKey(adminClient(url, adminToken), { name: 'Later', scopes: ['relay:request'] });
  assert.equal((await complete(url, later.secret)).said, '200');
}
