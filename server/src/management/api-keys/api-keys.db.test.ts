import assert from 'node:assert/strict';
import { createSecretKey, randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type ApiKeyCreate, allScopes } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { digestOfKey, isSameDigest, publicIdOf } from '../../domain/api-key.ts';
import type { Caller } from '../../domain/caller.ts';
import { ensureImplicitOrganization } from '../../store/configuration/implicit-organization.ts';
import { addMember, asKey, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const deployment = { mode: 'self_hosted', accounts: true, version: '1.0.0' } as const;
const request: ApiKeyCreate = { name: 'batch', scopes: ['relay:request'] };

describe('own API keys', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let nowMs = Date.now();

  before(async () => {
    database = await freshDatabase();
    const clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() };
    room = await startManagement(database.url, { deployment, clock });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const create = async (caller: Caller, body: Partial<ApiKeyCreate> = {}) =>
    (await room.call('createApiKey', caller, { body: { ...request, ...body } })).body;
  const list = async (caller: Caller) => (await room.call('listApiKeys', caller)).body.api_keys;
  const rowOf = (id: string) =>
    room.db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const find = async (caller: Caller, id: string) => (await list(caller)).find((key) => key.id === id);

  it('are created with exactly the fields of the interface', async () => {
    const { body, headers } = await room.call('createApiKey', room.acme, { body: request });
    const publicId = publicIdOf(body.api_key);
    assert.ok(publicId);
    assert.deepEqual(body, {
      api_key: body.api_key,
      key: {
        id: body.key.id,
        user_uuid: room.acme.userId,
        name: 'batch',
        key_prefix: `rly_${publicId}`,
        product_key: 'model_relay',
        scopes: ['relay:request'],
        status: 'active',
        created_at: (await rowOf(body.key.id)).created_at.toISOString(),
        first_used_at: null,
        last_used_at: null,
        expires_at: null,
        revoked_at: null,
        team_id: null,
        labels: {},
        etag: '"1"',
      },
    });
    assert.ok(body.api_key.startsWith(`${body.key.key_prefix}_`));
    assert.equal(headers.get('ETag'), '"1"');
    assert.deepEqual(await find(room.acme, body.key.id), body.key);
  });

  it('keep of the secret only a digest under the pepper, and never show it again', async () => {
    const { api_key, key } = await create(room.acme);
    const row = await rowOf(key.id);
    assert.ok(isSameDigest(row.secret_hmac, digestOfKey(room.keyPepper, api_key)));
    assert.ok(!isSameDigest(row.secret_hmac, digestOfKey(createSecretKey(randomBytes(32)), api_key)));
    const secret = api_key.slice(key.key_prefix.length + 1);
    const audit = await room.db.selectFrom('audit_log').selectAll().execute();
    assert.ok(!JSON.stringify([row, await list(room.acme), audit]).includes(secret));
    const digest = row.secret_hmac.toString('hex');
    assert.ok(!JSON.stringify([await list(room.acme), audit]).includes(digest));
  });

  it('refuse a name that cannot be stored', async () => {
    await assert.rejects(create(room.acme, { name: 'a\0b' }), refusal('invalid_request', 'name'));
    const { key } = await create(room.acme);
    const renamed = room.call('renameApiKey', room.acme, { id: key.id, body: { name: 'b\0' } });
    await assert.rejects(renamed, refusal('invalid_request', 'name'));
  });

  it('expire at a future time or never', async () => {
    const inOneHour = new Date(nowMs + 3_600_000);
    const { key } = await create(room.acme, { expires_at: inOneHour.toISOString() });
    assert.equal(key.expires_at, inOneHour.toISOString());
    const elsewhere = `${new Date(nowMs + 9_000_000).toISOString().slice(0, -1)}+02:00`;
    const { key: offset } = await create(room.acme, { expires_at: elsewhere });
    assert.equal(offset.expires_at, new Date(elsewhere).toISOString());
    assert.equal((await create(room.acme, { expires_at: null })).key.expires_at, null);
    for (const expires_at of [
      new Date(nowMs).toISOString(),
      new Date(nowMs - 1).toISOString(),
      '2016-12-31T23:59:60Z',
    ])
      await assert.rejects(create(room.acme, { expires_at }), refusal('invalid_request', 'expires_at'));
  });

  it('are active until the clock reaches their expiry, and revoked whatever it says', async () => {
    const expires_at = new Date(nowMs + 1_000).toISOString();
    const { key } = await create(room.acme, { expires_at });
    const { key: revoked } = await create(room.acme, { expires_at });
    await room.call('revokeApiKey', room.acme, { id: revoked.id });
    const statuses = async () => [
      (await find(room.acme, key.id))?.status,
      (await find(room.acme, revoked.id))?.status,
    ];
    nowMs += 999;
    assert.deepEqual(await statuses(), ['active', 'revoked']);
    nowMs += 1;
    assert.deepEqual(await statuses(), ['expired', 'revoked']);
  });

  it('tell when they were first and last used', async () => {
    const { key } = await create(room.acme);
    const [first_used_at, last_used_at] = [new Date(nowMs - 5_000), new Date(nowMs)];
    const uses = { first_used_at, last_used_at };
    await room.db.updateTable('api_keys').set(uses).where('id', '=', key.id).execute();
    const found = await find(room.acme, key.id);
    assert.equal(found?.first_used_at, first_used_at.toISOString());
    assert.equal(found?.last_used_at, last_used_at.toISOString());
  });

  it('are renamed in any state, and nothing else of them changes', async () => {
    const { key } = await create(room.acme);
    const { body } = await room.call('renameApiKey', room.acme, { id: key.id, body: { name: 'nightly' } });
    assert.equal(body, undefined);
    assert.deepEqual(await find(room.acme, key.id), { ...key, name: 'nightly', etag: '"2"' });
    await room.call('revokeApiKey', room.acme, { id: key.id });
    const revoked = await find(room.acme, key.id);
    assert.equal(revoked?.etag, '"3"');
    await room.call('renameApiKey', room.acme, { id: key.id, body: { name: 'gone' } });
    assert.deepEqual(await find(room.acme, key.id), { ...revoked, name: 'gone', etag: '"4"' });
    await assert.rejects(
      room.call('renameApiKey', room.acme, { id: key.id, body: { name: 'x', scopes: [] } as never }),
      /can’t change scopes/,
    );
  });

  it('with If-Match are renamed only at the version that was read', async () => {
    const made = await room.call('createApiKey', room.acme, { body: request });
    const { id } = made.body.key;
    const headers = { 'if-match': made.headers.get('ETag') ?? '' };
    const rename = () => room.call('renameApiKey', room.acme, { id, body: { name: 'once' }, headers });
    assert.equal((await rename()).headers.get('ETag'), '"2"');
    await assert.rejects(rename(), refusal('version_conflict'));
    await assert.rejects(room.call('revokeApiKey', room.acme, { id, headers }), refusal('version_conflict'));
    assert.equal((await find(room.acme, id))?.status, 'active');
  });

  it('once revoked say so, and their siblings stay as they were', async () => {
    const { key: sibling } = await create(room.acme);
    const { key } = await create(room.acme);
    const { body } = await room.call('revokeApiKey', room.acme, { id: key.id });
    assert.equal(body, undefined);
    const revoked_at = new Date(nowMs).toISOString();
    assert.deepEqual(await find(room.acme, key.id), { ...key, status: 'revoked', revoked_at, etag: '"2"' });
    assert.deepEqual(await find(room.acme, sibling.id), sibling);
  });

  it('are fenced before a revocation is answered, at the version that marks the key', async () => {
    const { key } = await create(room.acme);
    const versionBefore = await room.configVersion(room.acme);
    await room.call('revokeApiKey', room.acme, { id: key.id });
    const { changed_version: version } = await rowOf(key.id);
    assert.ok(version > versionBefore);
    assert.equal(await room.configVersion(room.acme), version);
    const { organizationId } = room.acme;
    assert.deepEqual(room.raised.at(-1), { organizationId, version });
  });

  it('may be revoked again, which changes nothing and raises the same fence again', async () => {
    const { key } = await create(room.acme);
    await room.call('revokeApiKey', room.acme, { id: key.id });
    const revoked = await rowOf(key.id);
    nowMs += 5_000;
    const raisedBefore = room.raised.length;
    const { requestId } = await room.call('revokeApiKey', room.acme, { id: key.id });
    assert.deepEqual(await rowOf(key.id), revoked);
    assert.deepEqual(
      room.raised.slice(raisedBefore).map(({ version }) => version),
      [revoked.changed_version],
    );
    assert.deepEqual(await auditOf(requestId), []);
  });

  it('can revoke themselves', async () => {
    const { key } = await create(room.acme, { scopes: ['cloud:account:manage'] });
    const itself = asKey(room.acme, ['cloud:account:manage'], key.id);
    const { requestId } = await room.call('revokeApiKey', itself, { id: key.id });
    assert.equal((await find(room.acme, key.id))?.status, 'revoked');
    const [entry] = await auditOf(requestId);
    assert.deepEqual([entry?.actor_type, entry?.actor_key_id], ['api_key', key.id]);
  });

  const auditOf = (requestId: string) =>
    room.db.selectFrom('audit_log').selectAll().where('request_id', '=', requestId).execute();

  it('leave one audit entry for each write, without digest or secret', async () => {
    const made = await room.call('createApiKey', room.acme, { body: request });
    const { id } = made.body.key;
    const renamed = await room.call('renameApiKey', room.acme, { id, body: { name: 'other' } });
    const revoked = await room.call('revokeApiKey', room.acme, { id });
    const fields = {
      user_id: room.acme.userId,
      name: 'batch',
      public_id: publicIdOf(made.body.api_key),
      product_key: 'model_relay',
      scopes: ['relay:request'],
      expires_at: null,
      revoked_at: null,
      team_id: null,
      labels: {},
    };
    const other = { ...fields, name: 'other' };
    const expected = [
      [made, 'api_key.create', null, fields],
      [renamed, 'api_key.rename', fields, other],
      [revoked, 'api_key.revoke', other, { ...other, revoked_at: new Date(nowMs).toISOString() }],
    ] as const;
    for (const [{ requestId }, action, before, after] of expected) {
      const [entry, ...rest] = await auditOf(requestId);
      assert.deepEqual(rest, []);
      assert.deepEqual(
        [entry?.action, entry?.target_type, entry?.target_id, entry?.before, entry?.after],
        [action, 'api_key', id, before, after],
      );
      assert.deepEqual([entry?.actor_type, entry?.actor_user_id], ['admin_token', room.acme.userId]);
    }
  });

  it('are neither listed, renamed nor revoked by another member or organization', async () => {
    const { key } = await create(room.acme);
    const colleague = await addMember(room, room.acme, 'owner');
    const stranger = room.globex;
    const before = await rowOf(key.id);
    for (const caller of [colleague, stranger, { ...stranger, userId: room.acme.userId }]) {
      assert.deepEqual(
        (await list(caller)).filter(({ id }) => id === key.id),
        [],
      );
      for (const id of [key.id, randomUUIDv7(), 'no id', "' or true --"]) {
        const rename = room.call('renameApiKey', caller, { id, body: { name: 'taken' } });
        await assert.rejects(rename, refusal('not_found'));
        await assert.rejects(room.call('revokeApiKey', caller, { id }), refusal('not_found'));
      }
    }
    assert.deepEqual(await rowOf(key.id), before);
  });

  it('are listed in creation order, whole or in pages', async () => {
    const member = await addMember(room, room.acme, 'viewer');
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1)
      ids.push((await create(member, { scopes: ['relay:usage:read'] })).key.id);
    assert.deepEqual(
      (await list(member)).map(({ id }) => id),
      ids,
    );
    const first = await room.call('listApiKeys', member, { query: { limit: 3 } });
    const cursor = first.headers.get('X-Next-Cursor') ?? '';
    assert.equal(first.headers.get('Link'), `</api/account/api-keys?limit=3&cursor=${cursor}>; rel="next"`);
    const second = await room.call('listApiKeys', member, { query: { limit: 3, cursor } });
    assert.equal(second.headers.size, 0);
    assert.deepEqual(
      [...first.body.api_keys, ...second.body.api_keys].map(({ id }) => id),
      ids,
    );
  });

  it('are created without a new configuration version: no gateway has to reload for them', async () => {
    const versionBefore = await room.configVersion(room.acme);
    const { key } = await create(room.acme);
    await room.call('renameApiKey', room.acme, { id: key.id, body: { name: 'other' } });
    assert.equal(await room.configVersion(room.acme), versionBefore);
  });
});

describe('a new API key', () => {
  it('gets another public id when its first is taken, in whichever organization', async () => {
    const database = await freshDatabase();
    // The first seven bytes of a mint make the public id.
    const taken = randomBytes(7);
    let clashes = 3;
    const room = await startManagement(database.url, {
      deployment,
      randomBytes: (size) => {
        if (size !== taken.length || clashes === 0) return randomBytes(size);
        clashes -= 1;
        return taken;
      },
    });
    try {
      const first = await room.call('createApiKey', room.globex, { body: request });
      const second = await room.call('createApiKey', room.acme, { body: request });
      assert.equal(clashes, 0);
      assert.notEqual(second.body.key.key_prefix, first.body.key.key_prefix);
      assert.equal((await room.call('listApiKeys', room.acme)).body.api_keys.length, 1);
      const rows = await room.db.selectFrom('api_keys').selectAll().execute();
      const row = rows.find(({ id }) => id === second.body.key.id);
      assert.ok(row && isSameDigest(row.secret_hmac, digestOfKey(room.keyPepper, second.body.api_key)));
    } finally {
      await room.close();
      await database.drop();
    }
  });
});

describe('API keys of a deployment without accounts', () => {
  it('are those of the implicit owner, whom the admin token acts for', async () => {
    const database = await freshDatabase();
    const room = await startManagement(database.url);
    try {
      const { call } = room;
      const owner = { ...room.acme, ...(await ensureImplicitOrganization(room.db)) };
      const { key } = (await call('createApiKey', owner, { body: request })).body;
      assert.equal(key.user_uuid, owner.userId);
      await call('renameApiKey', owner, { id: key.id, body: { name: 'Renamed' } });
      const forOwner = { ...request, user_uuid: owner.userId };
      const second = (await call('createOrgApiKey', owner, { body: forOwner })).body.key;
      await call('revokeOrgApiKey', owner, { id: second.id });
      const { api_keys } = (await call('listApiKeys', owner)).body;
      assert.deepEqual(
        api_keys.map(({ name, status }) => [name, status]),
        [
          ['Renamed', 'active'],
          [request.name, 'revoked'],
        ],
      );
      assert.deepEqual((await call('listOrgApiKeys', owner)).body, api_keys);
      assert.deepEqual((await call('listApiKeyScopes', owner)).body.scopes, allScopes);
    } finally {
      await room.close();
      await database.drop();
    }
  });
});
