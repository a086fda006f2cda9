import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { bearer, relayFetch } from '../../harness/relay-fetch.ts';
import type { Manner } from '../manner.ts';

export const secrets: readonly Manner[] = [
  {
    name: 'what is remembered of a repeatable call holds no secret and no plain digest of the body',
    async check(site) {
      const client = new pg.Client({ connectionString: site.postgres.url });
      await client.connect();
      try {
        const key = randomUUID();
        const path = '/api/account/api-keys';
        const body = { name: 'Shown once', scopes: ['relay:request'] };
        const headers = { ...bearer(site.adminToken), 'idempotency-key': key };
        assert.equal((await relayFetch(site.url, 'POST', path, { headers, body })).status, 201);
        const { rows } = await client.query(
          `select request_hash = sha256(convert_to($2, 'UTF8')) as plain, octet_length(request_hash) as bytes
           from idempotency_keys where key = $1`,
          [key, JSON.stringify(['POST', path, body])],
        );
        assert.deepEqual(rows, [{ plain: false, bytes: 32 }]);
      } finally {
        await client.end();
      }
    },
  },
];
