import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { errors, isErrorCode } from '@relay/contract/errors';
import openapi from '@relay/contract/openapi.json' with { type: 'json' };
import { type FreshDatabase, freshDatabase, type PrivateRedis, startRedis } from '@relay/testbed';
import { readEnvironment } from './environment.ts';
import { type RunningServer, serve } from './serve.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const ASKED_TOGETHER = 8;
/** More than any route reads. */
const TOO_MUCH = String(64 * 1024 * 1024);
const JSON_TYPE = { 'content-type': 'application/json' };

/** Decided before it is known which route is meant, or whether it takes a body. */
const ANYWHERE: ReadonlySet<string> = new Set([
  'route_not_found',
  'not_found',
  'invalid_request',
  'invalid_json',
  'unsupported_media_type',
  'body_too_large',
]);

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly codes: readonly string[];
}

/** What a careless client sends in place of a body. */
const BODIES: Readonly<Record<string, Sent>> = {
  'no body': { headers: {}, body: '' },
  'no body of a type': { headers: { ...JSON_TYPE, 'content-length': '0' }, body: '' },
  'an empty object': { headers: JSON_TYPE, body: '{}' },
  null: { headers: JSON_TYPE, body: 'null' },
  'a list': { headers: JSON_TYPE, body: '[]' },
  'a text': { headers: JSON_TYPE, body: '"text"' },
  'half an object': { headers: JSON_TYPE, body: '{"name":' },
  'another type': { headers: { 'content-type': 'text/plain' }, body: '{}' },
  'too large a body': { headers: { ...JSON_TYPE, 'content-length': TOO_MUCH }, body: '{' },
};

/** As they are written in a path. */
const IDS: Readonly<Record<string, string>> = {
  'of nothing': randomUUIDv7(),
  'with a zero byte': 'a%00b',
  'that is no percent encoding': '%',
  'that is no UTF-8': '%ff',
  'that is long': 'x'.repeat(500),
  'that leads elsewhere': '..%2f..%2fetc',
  'of quotes': "'%22%3B--",
};

describe('every route of the OpenAPI document', () => {
  let database: FreshDatabase;
  let redis: PrivateRedis;
  let spool: string;
  let server: RunningServer;
  const tokens = { api: secret(), admin: secret() };
  const operations = operationsOf(openapi.paths);

  before(async () => {
    [database, redis] = await Promise.all([freshDatabase(), startRedis()]);
    spool = await mkdtemp(join(tmpdir(), 'relay-routes-'));
    const environment = readEnvironment({
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      RELAY_HTTP_ADDR: '127.0.0.1:0',
      RELAY_ACCOUNTS: 'true',
      RELAY_AUTH_SECRET: secret(),
      RELAY_API_TOKEN: tokens.api,
      RELAY_ADMIN_TOKEN: tokens.admin,
      RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
      RELAY_SPOOL_DIR: spool,
      RELAY_LOG_LEVEL: 'silent',
      RELAY_LAME_DUCK_MS: '0',
    });
    server = await serve(environment, 'all');
  });
  after(async () => {
    await server?.stop();
    await redis.remove();
    await database.drop();
    await rm(spool, { recursive: true, force: true });
  });

  it('answers any body, or none, from the table of errors', async () => {
    const writing = operations.filter(({ method }) => method !== 'get');
    assert.ok(writing.length > 50);
    const asked = writing.flatMap((operation) =>
      Object.entries(BODIES).map(([what, sent]) => ({ what, operation, sent, id: IDS['of nothing'] ?? '' })),
    );
    assert.deepEqual(await faultsOf(asked), []);
  });

  it('answers any id from the table of errors', async () => {
    const withIds = operations.filter(({ path }) => path.includes('{'));
    assert.ok(withIds.length > 20);
    const asked = withIds.flatMap((operation) =>
      Object.entries(IDS).map(([what, id]) => ({
        what: `an id ${what}`,
        operation,
        sent: operation.method === 'get' ? { headers: {}, body: '' } : { headers: JSON_TYPE, body: '{}' },
        id,
      })),
    );
    assert.deepEqual(await faultsOf(asked), []);
  });

  interface Asked {
    readonly what: string;
    readonly operation: Operation;
    readonly sent: Sent;
    readonly id: string;
  }

  async function faultsOf(asked: readonly Asked[]): Promise<string[]> {
    const faults: string[] = [];
    const left = [...asked];
    const askInTurn = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const fault = await faultOf(next);
        if (fault !== null)
          faults.push(`${next.operation.method} ${next.operation.path}, ${next.what}: ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: ASKED_TOGETHER }, askInTurn));
    return faults.sort();
  }

  /** Null for an answer of the contract. */
  async function faultOf({ operation, sent, id }: Asked): Promise<string | null> {
    const path = operation.path.replaceAll(/\{\w+\}/g, id);
    const { status, text } = await ask(operation.method, path, sent);
    if (status === 0) return text;
    if (status < 400) return null;
    const code = codeIn(text);
    if (!isErrorCode(code)) return `${status} without a code: ${text.slice(0, 200)}`;
    if (code === 'internal_error') return 'internal_error';
    if (errors[code].status !== status) return `${code} with status ${status}`;
    return operation.codes.includes(code) || ANYWHERE.has(code) ? null : `${code} is not listed for it`;
  }

  function ask(method: string, path: string, sent: Sent): Promise<{ status: number; text: string }> {
    const token = path.startsWith('/v1/') ? tokens.api : tokens.admin;
    return new Promise((resolve) => {
      const sending = request(server.address + path, {
        method: method.toUpperCase(),
        agent: false,
        headers: { authorization: `Bearer ${token}`, accept: 'application/json', ...sent.headers },
      });
      sending.on('error', (error) => resolve({ status: 0, text: error.message }));
      sending.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        const done = () => resolve({ status: response.statusCode ?? 0, text });
        // A stream of events has no end, and a body that is too large is not sent completely.
        const isEndless = response.headers['content-type']?.startsWith('text/event-stream') === true;
        if (isEndless) sending.destroy();
        response.on('data', (chunk: string) => (text += chunk));
        response.once('error', done);
        response.once('close', done);
        response.once('end', () => {
          if (!sending.writableFinished) sending.destroy();
        });
      });
      if (sent.headers['content-length'] === TOO_MUCH) sending.write(sent.body);
      else sending.end(sent.body);
    });
  }
});

function secret(): string {
  return randomBytes(24).toString('base64url');
}

interface Described {
  readonly servers?: readonly object[];
  readonly 'x-relay-error-codes'?: readonly string[];
}

function operationsOf(paths: Readonly<Record<string, object>>): Operation[] {
  const found = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = (item as Record<string, Described>)[method];
      if (operation === undefined) return [];
      // The document's own server address ends with /v1; other routes name another.
      const prefix = operation.servers === undefined ? '/v1' : '';
      return [{ method, path: prefix + path, codes: operation['x-relay-error-codes'] ?? [] }];
    }),
  );
  assert.ok(found.length > 100);
  return found;
}

function codeIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string } };
    return error?.code ?? '';
  } catch {
    return '';
  }
}
