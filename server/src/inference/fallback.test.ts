import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { policy } from '../domain/limits/limits.fixture.ts';
import { credential, endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { Secret } from '../kit/secret.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const KEY = 'sk-live-Qm2PzL9vTrW4hx7';
const PROMPT = 'The patient Ada Lovelace has a fever.';
const GOOD = JSON.stringify({ choices: [{ message: { content: 'yes' } }] });

interface Said {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

describe('fallback', () => {
  let upstream: Listening;
  let gateway: Gateway;
  /** What each endpoint says, one after the other; a good answer when nothing is left. */
  let says: Record<string, Said[]>;
  const asked = () => upstream.heard.map(({ path }) => path.split('/')[1]).join('');

  beforeEach(async () => {
    says = {};
    upstream = await startListening();
    upstream.answer = (response, { path }) => answer(response, says[path.split('/')[1] ?? '']?.shift());
    gateway = await startGateway(organize());
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function answer(response: ServerResponse, said: Said | undefined): void {
    response.writeHead(said?.status ?? 200, { 'content-type': 'application/json', ...said?.headers });
    response.end(said?.body ?? GOOD);
  }

  /** The endpoints a and b in the lane `both`, and a alone in `alone`. */
  function organize(over: Parameters<typeof lane>[1] = {}) {
    const names = ['a', 'b'];
    return snapshot({
      providers: names.map((id) =>
        provider(`p${id}`, { name: `Provider ${id}`, baseUrl: `${upstream.url}/${id}` }),
      ),
      credentials: names.map((id) => credential(`key-${id}`, `p${id}`, { secret: new Secret(KEY) })),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { pacing: false })),
      lanes: ['both', 'alone'].map((id) => lane(id, { defaultMaxWaitMs: 2_000, ...over })),
      memberships: [member('both', 'a', 1), member('both', 'b', 2), member('alone', 'a', 1)],
    });
  }

  const send = async (model: string, over: object = {}) => {
    const body = { model, messages: [{ role: 'user', content: PROMPT }], ...over };
    const answered = await gateway.send(body).answered;
    assert.ok(answered);
    assert.ok(!JSON.stringify(answered).includes('Qm2PzL9v'), answered.text);
    return { ...answered, record: await gateway.nthRecord(gateway.records.length || 1) };
  };
  const errorOf = (text: string) => (JSON.parse(text) as { error: { code: string; message: string } }).error;
  const about = (text: string) => JSON.stringify({ error: { message: text } });

  for (const status of [301, 307, 308, 401, 402, 403, 404, 407, 408, 409, 425, 429, 500, 503, 529]) {
    it(`goes to the next candidate after ${status}`, async () => {
      says = { a: [{ status, headers: { location: 'http://127.0.0.1:1/' }, body: about(`Key ${KEY}`) }] };
      const { status: seen, headers, record } = await send('both');
      assert.deepEqual([seen, headers['location'], asked()], [200, undefined, 'ab']);
      assert.equal(record.attempts[0]?.cause, `upstream_status_${status}`);
    });
  }

  it('goes to no other candidate where the lane allows none', async () => {
    gateway.organization = organize({ allowFallback: false });
    says = { a: [{ status: 500, body: about('broken') }] };
    const { status, record } = await send('both');
    assert.ok(status >= 500);
    assert.deepEqual([asked(), record.attempts.length], ['a', 1]);
  });

  for (const status of [400, 405, 413, 415, 422]) {
    it(`passes ${status} through`, async () => {
      says = { a: [{ status, body: about('yours') }] };
      const { status: seen, text } = await send('both');
      assert.deepEqual([seen, text, asked()], [status, about('yours'), 'a']);
    });
  }

  describe('an error in a 200 with nothing else', () => {
    const reported: [string, object | string, number][] = [
      ['an object', { error: { message: 'overloaded', type: 'server_error' } }, 502],
      ['an object without words', { error: {} }, 502],
      ['a text', { error: 'model not loaded' }, 502],
      ['an error that names its status', { error: { message: 'slow down', code: 429 } }, 429],
      ['an error with empty content', { id: 'x', choices: [], error: { message: 'Provider error' } }, 502],
      ['a server’s own', { object: 'error', message: 'no such model', code: 404 }, 404],
      ['a long one', { error: { message: 'x'.repeat(5_000) } }, 502],
    ];
    for (const [what, body, status] of reported) {
      const said = JSON.stringify(body);

      it(`falls back: ${what}`, async () => {
        says = { a: [{ status: 200, body: said }] };
        const { status: seen, text, record } = await send('both');
        assert.deepEqual([seen, text, asked()], [200, GOOD, 'ab']);
        const { outcome, cause, status: there } = record.attempts[0] ?? {};
        assert.deepEqual([outcome, cause, there], ['failed', 'upstream_invalid_response', 200]);
      });

      it(`keeps its bytes, with a status that clients read as an error: ${what}`, async () => {
        says = { a: [{ status: 200, body: said }] };
        const { status: seen, text, headers, record } = await send('alone');
        assert.deepEqual([seen, text, headers['x-relay-error-source']], [status, said, 'upstream']);
        assert.deepEqual([record.state, record.status], ['failed', status]);
      });
    }

    it('falls back and keeps its bytes if it is compressed, or the client asked for a stream', async () => {
      const body = gzipSync(JSON.stringify({ error: { message: 'overloaded' } }));
      const zipped = { status: 200, headers: { 'content-encoding': 'gzip' }, body };
      for (const stream of [false, true]) {
        says = { a: [zipped, zipped] };
        assert.equal((await send('both', { stream })).status, 200);
        const { status, headers } = await send('alone', { stream });
        assert.deepEqual([status, headers['content-encoding']], [502, 'gzip']);
      }
    });

    it('keeps what the provider said about Relay’s credential from the client', async () => {
      says = {
        a: [{ status: 200, body: JSON.stringify({ error: { message: `Wrong ${KEY}`, code: 401 } }) }],
      };
      const { status, text, record } = await send('alone');
      assert.deepEqual([status, errorOf(text).code], [502, 'upstream_credential_refused']);
      assert.equal(record.attempts[0]?.upstreamMessage, 'Wrong [redacted]');
    });

    it('is no failure where there is content, or a response says itself that it failed', async () => {
      for (const more of [
        { choices: [{ message: { content: 'yes' } }] },
        { object: 'response', output: [] },
      ]) {
        const body = JSON.stringify({ error: { message: 'partial' }, ...more });
        says = { a: [{ status: 200, body }] };
        const { status, text, record } = await send('both');
        assert.deepEqual([status, text, record.state], [200, body, 'completed']);
      }
    });
  });

  for (const [status, code] of [
    [302, 'upstream_redirected'],
    [401, 'upstream_credential_refused'],
    [402, 'upstream_credential_refused'],
    [403, 'upstream_credential_refused'],
    [407, 'upstream_credential_refused'],
  ] as const) {
    it(`answers 502 ${code} for a last ${status}, and keeps the provider’s text for the detail`, async () => {
      const body = about(`Incorrect key ${KEY}, that is sk-live...hx7. See https://x.test/a?key=${KEY}.`);
      says = { a: [{ status, headers: { location: 'https://o.test/v1?q=1', 'set-cookie': 'a=b' }, body }] };
      const { status: seen, headers, text, record } = await send('alone');
      assert.equal(seen, 502);
      const error = errorOf(text);
      assert.equal(error.code, code);
      assert.match(error.message, /^Endpoint "a" of provider "Provider a" \(127\.0\.0\.1:\d+\) /);
      assert.ok(!text.includes('Incorrect') && !text.includes('hx7'));
      assert.deepEqual([headers['location'], headers['set-cookie']], [undefined, undefined]);
      assert.deepEqual([record.state, record.status, record.cause], ['failed', 502, code]);
      const kept = record.attempts[0]?.upstreamMessage ?? '';
      assert.match(kept, /^Incorrect key \[redacted\]/);
      assert.ok(!kept.includes('hx7') && !kept.includes('?'), kept);
      assert.equal(kept.includes('Redirects to https://o.test/v1'), status === 302, kept);
    });
  }

  it('names how many candidates were tried, and the last', async () => {
    says = { a: [{ status: 500 }], b: [{ status: 401 }] };
    const { text } = await send('both');
    assert.match(
      errorOf(text).message,
      /^None of the 2 candidates that Relay tried succeeded\. The last one, endpoint "b" of /,
    );
  });

  it('keeps nothing of an answer that repeats the request, whole, cut or escaped', async () => {
    for (const said of [
      PROMPT,
      PROMPT.slice(12, 24).toUpperCase(),
      encodeURIComponent(PROMPT),
      'é'.repeat(20),
    ]) {
      says = { a: [{ status: 401, body: about(`You sent: ${said}`) }] };
      const { record } = await send('alone', { user: 'é'.repeat(20) });
      assert.equal(record.attempts[0]?.upstreamMessage, undefined, said);
    }
    says = { a: [{ status: 302, headers: { location: `/v1/${encodeURIComponent(PROMPT)}` } }] };
    assert.equal((await send('alone')).record.attempts[0]?.upstreamMessage, undefined);
  });

  it('charges an attempt without an answer as its row says, when no other candidate has room', async () => {
    const price = {
      inputCostMicrosPer1mTokens: 2_000_000,
      outputCostMicrosPer1mTokens: 6_000_000,
      cachedInputCostMicrosPer1mTokens: null,
      flatRequestCostMicros: 0,
    };
    gateway.organization = {
      ...organize({ defaultMaxWaitMs: 0 }),
      pricing: new Map([
        ['a', price],
        ['b', price],
      ]),
      limitPolicies: [
        policy('spend', { metric: 'spend', limitValue: 1_000_000 }),
        policy('tokens', { metric: 'tokens', limitValue: 1_000_000 }),
        policy('small', { metric: 'tokens', limitValue: 1, scopeType: 'endpoint', scopeId: 'b' }),
      ],
    };
    const breaks: ((response: ServerResponse) => void)[] = [
      (response) => response.destroy(),
      (response) => response.writeHead(200).write('{"choices":', () => response.destroy()),
    ];
    let [spendMicros, tokens] = [0, 0];
    for (const end of breaks) {
      upstream.answer = end;
      const { status, record } = await send('both', { max_tokens: 40 });
      assert.deepEqual([status, record.attempts.length, record.usageSource], [502, 1, 'estimated']);
      spendMicros += record.actualCostMicros ?? 0;
      tokens += record.actualInputTokens;
      assert.equal(await gateway.usage('spend', 'spend'), spendMicros);
      assert.equal(await gateway.usage('tokens', 'tokens'), tokens);
    }
    assert.ok(spendMicros > 0 && tokens > 0);
  });

  it('takes a 401 for one whose body never ends, is cut, or is huge', async () => {
    const ends: ((response: ServerResponse) => void)[] = [
      (response) => response.write('{"error":'),
      (response) => response.write('{"error":', () => response.destroy()),
      (response) => response.end('x'.repeat(20 * 1024 * 1024)),
    ];
    for (const end of ends) {
      upstream.answer = (response) => end(response.writeHead(401));
      const { status, text } = await send('alone');
      assert.deepEqual([status, errorOf(text).code], [502, 'upstream_credential_refused']);
    }
  });

  it('takes the credential out of an error that it passes on, also a compressed one, and only then changes it', async () => {
    const said = `{"error":{"message":"Bad key ${KEY} or sk-live-****hx7"}}`;
    const shown = '{"error":{"message":"Bad key [redacted] or [redacted]"}}';
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      const body = 'content-encoding' in headers ? gzipSync(said) : said;
      says = { a: [{ status: 400, headers: { ...headers, 'openai-version': KEY }, body }] };
      const answered = await send('alone');
      assert.deepEqual([answered.status, answered.text], [400, shown]);
      assert.equal(answered.headers['content-encoding'], undefined);
    }
  });

  it('takes the credential out of an error frame, before content and after it', async () => {
    const frame = `data: {"error":{"message":"Bad key ${KEY}, sk-live-...hx7"}}\n\n`;
    const content = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
    for (const before of ['', content]) {
      says = { a: [{ status: 200, headers: { 'content-type': 'text/event-stream' }, body: before + frame }] };
      const { text } = await send('alone', { stream: true });
      assert.equal(text, `${before}data: {"error":{"message":"Bad key [redacted], [redacted]"}}\n\n`);
    }
  });

  it('passes on no header that could steer the client, name the account or pass for Relay’s', async () => {
    const withheld =
      'location refresh link content-location alt-svc set-cookie www-authenticate proxy-authenticate server via x-request-id openai-organization x-ratelimit-limit-requests access-control-allow-origin strict-transport-security content-security-policy clear-site-data x-anything'.split(
        ' ',
      );
    const headers = Object.fromEntries(withheld.map((name) => [name, 'planted']));
    for (const status of [200, 400, 500]) {
      says = {
        a: [
          {
            status,
            headers: { ...headers, 'openai-version': '1', 'retry-after': '7', 'x-should-retry': 'false' },
          },
        ],
      };
      const answered = await send('alone');
      assert.equal(answered.status, status);
      assert.ok(!Object.values(answered.headers).flat().includes('planted'));
      const passed = ['openai-version', 'retry-after', 'x-should-retry'].map(
        (name) => answered.headers[name],
      );
      assert.deepEqual(passed, ['1', '7', 'false']);
    }
  });
});
