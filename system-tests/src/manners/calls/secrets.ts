import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Deployment } from '../../harness/deployment.ts';
import type { Manner } from '../manner.ts';
import { rawCall } from './raw-call.ts';

interface Shown {
  readonly path: string;
  readonly body: (site: Deployment) => Promise<object>;
  /** The field that holds the secret, and the object beside it. */
  readonly secret: string;
  readonly object: string;
}

const shown: readonly Shown[] = [
  {
    path: '/api/account/api-keys',
    body: async () => ({ name: 'Shown once', scopes: ['relay:request'] }),
    secret: 'api_key',
    object: 'key',
  },
  {
    path: '/api/org/api-keys',
    body: async (site) => {
      const { body } = await site.admin.call('GET', '/api/account');
      const { user } = body as { user: { id: string } };
      return { name: 'Shown once', scopes: ['relay:request'], user_uuid: user.id };
    },
    secret: 'api_key',
    object: 'key',
  },
  {
    path: '/api/org/invitations',
    body: async () => ({ email: `${randomUUID()}@example.com`, role: 'viewer' }),
    secret: 'accept_url',
    object: 'invitation',
  },
];

async function create(site: Deployment, path: string, body: object, key: string) {
  const headers = {
    authorization: `Bearer ${site.adminToken}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const answer = await rawCall(site.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { ...answer, json: JSON.parse(answer.text) as Record<string, unknown> };
}

export const secrets: readonly Manner[] = [
  {
    name: 'an answer that shows a secret is not to be stored by anybody',
    async check(site) {
      for (const { path, body } of shown) {
        const answer = await create(site, path, await body(site), randomUUID());
        assert.equal(answer.status, 201, answer.text);
        assert.equal(answer.headers['cache-control'], 'no-store', path);
      }
    },
  },
  {
    name: 'a repeated call does not show the secret again: it names what the first one made',
    async check(site) {
      for (const { path, body, secret, object } of shown) {
        const [key, sent] = [randomUUID(), await body(site)];
        const first = await create(site, path, sent, key);
        const value = String(first.json[secret]);
        assert.ok(first.status === 201 && value.length > 20, first.text);
        const again = await create(site, path, sent, key);
        assert.equal(again.status, 409, again.text);
        assert.equal(again.error.code, 'secret_already_shown');
        assert.deepEqual((again.error as Record<string, unknown>)[object], first.json[object]);
        assert.ok(!again.text.includes(value), again.text);
        const other = await create(site, path, { ...sent, role: 'admin', name: 'Other' }, key);
        assert.ok([400, 409].includes(other.status), other.text);
      }
    },
  },
  {
    name: 'what is remembered of a repeatable call holds no secret and no plain digest of the body',
    async check(site) {
      const client = new pg.Client({ connectionString: site.postgres.url });
      await client.connect();
      try {
        const key = randomUUID();
        const { path, body } = shown[0] as Shown;
        const sent = await body(site);
        await create(site, path, sent, key);
        const { rows } = await client.query(
          `select request_hash = sha256(convert_to($2, 'UTF8')) as plain, octet_length(request_hash) as bytes
           from idempotency_keys where key = $1`,
          [key, JSON.stringify(['POST', path, sent])],
        );
        assert.deepEqual(rows, [{ plain: false, bytes: 32 }]);
      } finally {
        await client.end();
      }
    },
  },
];
