import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { headers } from '@relay/contract';
import { verifyFrames } from '@relay/provider-sim';
import OpenAI from 'openai';
import { reportFigures } from '../harness/figures.ts';
import {
  BODY_BYTES_MAX,
  type HostedDeployment,
  LANE,
  startHostedDeployment,
} from '../harness/hosted-deployment.ts';
import { startRefused } from '../harness/relay-process.ts';
import { BODY, goodToken, PATH } from './forge-context.ts';
import { refusedStarts } from './refused-starts.ts';
import { type RawRequest, requestAttacks, spoofedLines } from './request-attacks.ts';
import { type RawAnswer, sendRaw } from './send-raw.ts';
import { tokenAttacks } from './token-attacks.ts';

// A platform in front of two inference processes: which requests pass, and which must not.

let hosted: HostedDeployment;
let attacks = 0;
let accepted = 0;
const ask = { model: LANE, messages: [{ role: 'user' as const, content: 'Say hello.' }] };

before(async () => {
  hosted = await startHostedDeployment();
});
after(async () => {
  reportFigures({ attacks, accepted });
  await hosted.stop();
});

function client(tenant = hosted.acme): OpenAI {
  return new OpenAI({ apiKey: tenant.key, baseURL: `${hosted.platform.url}/v1`, maxRetries: 0 });
}

/** Requests the provider got since the last call. */
let seenId = 0;
function providerRequests() {
  const fresh = hosted.provider.log.filter(({ id }) => id > seenId);
  seenId = hosted.provider.log.at(-1)?.id ?? seenId;
  return fresh;
}

/** Sends one attack. Anything but a 401 without a request at the provider counts as accepted. */
async function attack(request: RawRequest, url = hosted.inference[0].url): Promise<RawAnswer> {
  providerRequests();
  const answer = await sendRaw(url, request);
  attacks += 1;
  const reached = providerRequests().length;
  if (answer.status !== 401 || reached > 0) accepted += 1;
  assert.equal(answer.status, 401, answer.body);
  assert.equal(reached, 0, 'the provider was asked');
  return answer;
}

const withContext = (token: string): RawRequest => ({ lines: [`x-relay-context: ${token}`] });

describe('through the platform', () => {
  it('an answer has one id, from the client to the ledger, and the ledger knows whose it is', async () => {
    const { data, response } = await client()
      .chat.completions.create(ask, { headers: { 'x-request-id': 'my-own-id' } })
      .withResponse();
    assert.ok(data.choices[0]?.message.content);
    const requestId = response.headers.get(headers.requestId) ?? '';
    assert.equal((data as { _request_id?: string })._request_id, requestId);
    const row = (await hosted.ledger.row({ requestId })) as unknown as Record<string, unknown>;
    assert.equal(row['organization_id'], hosted.acme.organizationId);
    assert.equal(row['user_id'], hosted.acme.userId);
    assert.equal(row['key_id'], hosted.acme.keyId);
    assert.equal(row['client_request_id'], 'my-own-id');
    assert.equal(row['state'], 'completed');
  });

  it('metering travels back as headers', async () => {
    const { data, response } = await client().chat.completions.create(ask).withResponse();
    const header = (name: string) => response.headers.get(name);
    assert.equal(Number(header(headers.actualTotalTokens)), data.usage?.total_tokens);
    assert.equal(header(headers.selectedUpstreamModel), 'sim-multi');
    assert.equal(header(headers.fallbackCount), '0');
  });

  it('the first frame of a stream is there before the last one was made', async () => {
    providerRequests();
    const slow = { ...ask, stream: true as const, sim: { frames: 20, frameDelayMs: 50 } };
    const stream = await client().chat.completions.create(slow);
    let frames = 0;
    for await (const _chunk of stream) {
      frames += 1;
      if (frames === 1) assert.equal(providerRequests()[0]?.outcome, 'pending');
    }
    assert.ok(frames >= 20);
  });

  it('every frame of a stream arrives once, unchanged and in its order', async () => {
    const sim = { frames: 2_000, frameBytes: 200, splitFrames: true, tag: 'platform' };
    const request = { ...ask, stream: true as const, sim };
    const stream = await client().chat.completions.create(request);
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    const report = verifyFrames(text, { frames: 2_000, tag: 'platform' });
    assert.ok(report.ok, JSON.stringify(report).slice(0, 500));
  });

  it('embeddings, responses and the list of models answer', async () => {
    const embedded = await client().embeddings.create({ model: LANE, input: 'text' });
    assert.ok((embedded.data[0]?.embedding.length ?? 0) > 0);
    const answered = await client().responses.create({ model: LANE, input: 'Say hello.' });
    assert.ok(answered.output_text);
    const models = await client().models.list();
    assert.deepEqual(
      models.data.map(({ id }) => id),
      ['sim-multi', LANE],
    );
  });

  it('a body that is too large is 413 and goes no further', async () => {
    providerRequests();
    const lines = [`Authorization: Bearer ${hosted.acme.key}`];
    const answer = await sendRaw(hosted.platform.url, { lines, body: ' '.repeat(BODY_BYTES_MAX + 1) });
    assert.deepEqual([answer.status, answer.code], [413, 'body_too_large']);
    assert.equal(providerRequests().length, 0);
  });

  it('a provider’s own error arrives as the provider said it', async () => {
    const failing = { ...ask, sim: { status: 422 } };
    const error = await client()
      .chat.completions.create(failing)
      .catch((thrown: unknown) => thrown);
    assert.ok(error instanceof OpenAI.APIError);
    assert.equal(error.status, 422);
    assert.equal(error.headers?.get(headers.errorSource), 'upstream');
  });

  it('a client that leaves is left by the provider, and the ledger says so', async () => {
    for (const stream of [true, false]) {
      providerRequests();
      const leaving = new AbortController();
      const sim = stream ? { frames: 400, frameDelayMs: 20 } : { stallBeforeHeaders: true };
      const request = fetch(hosted.platform.url + PATH, {
        method: 'POST',
        headers: { authorization: `Bearer ${hosted.acme.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ask, stream, sim }),
        signal: leaving.signal,
      });
      const since = seenId;
      await hosted.provider.waitFor(({ id, fault }) => id > since && fault !== null);
      const response = stream ? await request : null;
      if (response !== null) await response.body?.getReader().read();
      leaving.abort();
      await request.catch(() => undefined);
      const entry = await hosted.provider.waitFor(
        ({ id, outcome }) => id > since && outcome === 'aborted_by_client',
      );
      assert.ok(entry.abortedAtMs !== null);
      const requestId = response?.headers.get(headers.requestId);
      if (requestId) assert.equal((await hosted.ledger.row({ requestId })).state, 'cancelled');
    }
  });

  it('a context of either key is taken while one key replaces the other', async () => {
    for (const key of [hosted.platformKey, hosted.nextKey]) {
      const answer = await sendRaw(hosted.inference[1].url, withContext(goodToken(key, hosted.acme)));
      assert.equal(answer.status, 200, answer.body);
    }
  });
});

describe('a context that opens nothing', () => {
  for (const { name, token } of tokenAttacks) {
    it(name, async () => {
      const { code } = await attack(withContext(token(hosted)));
      assert.equal(code, 'invalid_context');
    });
  }
});

describe('a request that its context is not for, or that has none', () => {
  for (const { name, request } of requestAttacks) {
    it(name, async () => {
      const sent = request(hosted);
      const { code } = await attack(sent);
      // The answer to HEAD has no body, and so no code.
      assert.equal(code, sent.start?.startsWith('HEAD') === true ? null : 'invalid_context');
    });
  }
});

describe('a context that was used', () => {
  it('opens neither the same process again nor another one', async () => {
    const token = goodToken(hosted.platformKey, hosted.victim);
    assert.equal((await sendRaw(hosted.inference[0].url, withContext(token))).status, 200);
    await attack(withContext(token));
    await attack(withContext(token), hosted.inference[1].url);
    await attack(withContext(token), hosted.inference[1].url);
  });

  it('is not renewed by a failed attempt with another body', async () => {
    const token = goodToken(hosted.platformKey, hosted.victim);
    await attack({ ...withContext(token), body: '{}' });
    await attack(withContext(token), hosted.inference[1].url);
  });

  it('opens once when it comes twenty times at the same time', async () => {
    providerRequests();
    const token = goodToken(hosted.platformKey, hosted.victim);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        sendRaw(hosted.inference[index % 2 === 0 ? 0 : 1].url, withContext(token)),
      ),
    );
    const through = answers.filter(({ status }) => status === 200).length;
    attacks += 19;
    accepted += Math.max(0, through - 1);
    assert.equal(through, 1);
    assert.equal(answers.filter(({ status }) => status === 401).length, 19);
    assert.equal(providerRequests().length, 1);
  });
});

describe('a client that says it is somebody else', () => {
  it('stays who it is, whatever headers it sends, and none of them reaches the provider', async () => {
    for (const line of [...spoofedLines(hosted), 'X-Forwarded-For: 10.0.0.1']) {
      providerRequests();
      const lines = [`Authorization: Bearer ${hosted.acme.key}`, line];
      const answer = await sendRaw(hosted.platform.url, { lines });
      const [seen] = providerRequests();
      const row = (await hosted.ledger.row({ requestId: answer.requestId })) as unknown as Record<
        string,
        unknown
      >;
      const names = (seen?.rawHeaders ?? [])
        .filter((_, index) => index % 2 === 0)
        .map((name) => name.toLowerCase());
      const leaked = names.filter((name) => /^x[-_](?:relay|forwarded)|^cookie$/.test(name));
      attacks += 1;
      if (row['user_id'] !== hosted.acme.userId || leaked.length > 0) accepted += 1;
      assert.equal(answer.status, 200, `${line}: ${answer.body}`);
      assert.equal(row['organization_id'], hosted.acme.organizationId, line);
      assert.equal(row['user_id'], hosted.acme.userId, line);
      assert.equal(row['key_id'], hosted.acme.keyId, line);
      assert.deepEqual(leaked, [], line);
    }
  });

  it('all at once as well', async () => {
    const lines = [`Authorization: Bearer ${hosted.acme.key}`, ...spoofedLines(hosted)];
    const answer = await sendRaw(hosted.platform.url, { lines });
    assert.equal(answer.status, 200, answer.body);
    const row = (await hosted.ledger.row({ requestId: answer.requestId })) as unknown as Record<
      string,
      unknown
    >;
    attacks += 1;
    if (row['user_id'] !== hosted.acme.userId) accepted += 1;
    assert.equal(row['user_id'], hosted.acme.userId);
  });

  it('gets in with no context at all where it has no key', async () => {
    for (const line of spoofedLines(hosted)) await attack({ lines: [line] }, hosted.platform.url);
  });
});

describe('inference', () => {
  it('has no management interface', async () => {
    for (const path of ['/api/account', '/api/relay/providers', '/api/relay/capabilities']) {
      const response = await fetch(hosted.inference[0].url + path, {
        headers: { authorization: `Bearer ${hosted.acme.key}` },
      });
      assert.equal(response.status, 404, path);
    }
  });

  it('says in no log line what a key, a context or a prompt was', () => {
    const text = JSON.stringify([hosted.platform, ...hosted.inference].map(({ logs }) => logs));
    for (const secret of [hosted.acme.key, hosted.victim.key, 'Say hello', 'eyJhbGciOi'])
      assert.ok(!text.includes(secret), secret);
  });

  it('lets nothing in while nobody can tell what was used', async () => {
    providerRequests();
    hosted.redis.pause();
    const answer = await sendRaw(
      hosted.inference[0].url,
      withContext(goodToken(hosted.platformKey, hosted.acme)),
    );
    hosted.redis.resume();
    assert.deepEqual([answer.status, answer.code], [503, 'policy_unavailable']);
    assert.equal(providerRequests().length, 0);
    const deadlineMs = Date.now() + 10_000;
    for (;;) {
      const again = await sendRaw(hosted.platform.url, {
        lines: [`Authorization: Bearer ${hosted.acme.key}`],
      });
      if (again.status === 200) break;
      assert.ok(Date.now() < deadlineMs, again.body);
    }
  });

  it('that is away is 503 at the platform, with the time to try again', async () => {
    await hosted.inference[0].stop();
    const response = await fetch(hosted.platform.url + PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${hosted.acme.key}` },
      body: BODY,
    });
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
  });
});

describe('a start with settings that protect nothing', { concurrency: 4 }, () => {
  for (const { name, role, over, says } of refusedStarts) {
    it(`is refused: ${name}`, async () => {
      const env = { ...hosted.env, RELAY_INFERENCE_URL: hosted.inference[0].url, ...over };
      const { code, stderr } = await startRefused({ env, role });
      attacks += 1;
      if (code !== 1) accepted += 1;
      assert.equal(code, 1);
      assert.match(stderr, says);
      assert.doesNotMatch(stderr, /\n\s+at /);
    });
  }
});
