import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { UnsealError } from '../../kit/seal.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('credentials', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const stored = (id: string) =>
    room.db
      .selectFrom('credentials')
      .selectAll()
      .where('organization_id', '=', room.acme.organizationId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();

  it('are answered without their secret and stored sealed to organization, provider and version', async () => {
    const { provider } = await addOneOfEach(room, room.acme, 'Sealed');
    const { body } = await room.call('createCredential', room.acme, {
      body: { provider_id: provider.id, name: 'Key', secret: 'sk-first' },
    });
    assert.deepEqual(Object.keys(body).sort(), [
      'created_at',
      'enabled',
      'etag',
      'id',
      'last_used_at',
      'name',
      'provider_id',
    ]);
    const row = await stored(body.id);
    const place = { organizationId: room.acme.organizationId, ownerId: provider.id, secretVersion: 1 };
    assert.equal(room.sealer.open(row.sealed_secret, secretBinding(place)).reveal(), 'sk-first');
    const elsewhere = { ...place, organizationId: room.globex.organizationId };
    assert.throws(() => room.sealer.open(row.sealed_secret, secretBinding(elsewhere)), UnsealError);
  });

  it('get a new version with a new secret, and an older secret put back does not open', async () => {
    const { credential } = await addOneOfEach(room, room.acme, 'Rotated');
    const old = await stored(credential.id);
    await room.call('updateCredential', room.acme, { id: credential.id, body: { secret: 'sk-second' } });
    const row = await stored(credential.id);
    const place = {
      organizationId: room.acme.organizationId,
      ownerId: row.provider_id,
      secretVersion: row.secret_version,
    };
    assert.equal(row.secret_version, 2);
    assert.equal(room.sealer.open(row.sealed_secret, secretBinding(place)).reveal(), 'sk-second');
    assert.throws(() => room.sealer.open(old.sealed_secret, secretBinding(place)), UnsealError);
  });

  it('keep their secret when only the name or the switch changes', async () => {
    const { credential } = await addOneOfEach(room, room.acme, 'Renamed');
    const old = await stored(credential.id);
    const { body } = await room.call('updateCredential', room.acme, {
      id: credential.id,
      body: { name: 'New', enabled: false },
    });
    const row = await stored(credential.id);
    assert.deepEqual(body, { ...credential, name: 'New', enabled: false, etag: '"2"' });
    assert.equal(row.secret_version, 1);
    assert.deepEqual(row.sealed_secret, old.sealed_secret);
  });

  it('have a name of their own at their provider', async () => {
    const { provider, credential } = await addOneOfEach(room, room.acme, 'Named');
    const create = (name: string) =>
      room.call('createCredential', room.acme, { body: { provider_id: provider.id, name, secret: 'sk' } });
    await assert.rejects(
      create('Named'),
      refusal('conflict', 'name', /already has a credential named "Named"/),
    );
    const { body: other } = await create('Other');
    const body = { name: 'Named' };
    await assert.rejects(
      room.call('updateCredential', room.acme, { id: other.id, body }),
      refusal('conflict', 'name'),
    );
    await room.call('updateCredential', room.acme, { id: credential.id, body });
    const { provider: another } = await addOneOfEach(room, room.acme, 'Another');
    await room.call('createCredential', room.acme, {
      body: { provider_id: another.id, name: 'Named', secret: 'sk-of-another' },
    });
  });

  it('reach the snapshot of this process before the answer', async () => {
    const { provider } = await addOneOfEach(room, room.acme, 'Seen');
    await room.snapshots.load(room.acme.organizationId);
    const { body } = await room.call('createCredential', room.acme, {
      body: { provider_id: provider.id, name: 'Seen too', secret: 'sk-seen' },
    });
    const snapshot = room.snapshots.get(room.acme.organizationId);
    assert.equal(snapshot?.credentials.get(body.id)?.secret?.reveal(), 'sk-seen');
  });

  it('refuse a secret that cannot go into a header, without repeating it', async () => {
    const { provider } = await addOneOfEach(room, room.acme, 'Pasted');
    for (const secret of ['sk-secret\n', ' sk-secret', 'sk-sécret', 'sk-secret\r\nx: y', '\0']) {
      await assert.rejects(
        room.call('createCredential', room.acme, { body: { provider_id: provider.id, name: 'K', secret } }),
        (error: Error) => refusal('invalid_request', 'secret')(error) && !error.message.includes('sk-'),
      );
    }
  });

  it('are held against the auth mode of their provider, without repeating the secret', async () => {
    const { body: provider } = await room.call('createProvider', room.acme, {
      body: {
        name: 'Signed',
        preset_slug: 'bedrock',
        base_url: 'https://bedrock-runtime.eu-west-1.amazonaws.com/v1',
      },
    });
    assert.equal(provider.auth_mode, 'aws_sigv4');
    const body = { provider_id: provider.id, name: 'Key' };
    const isRefused = (error: Error) =>
      refusal('invalid_request', 'secret', /secret_access_key/)(error) && !error.message.includes('AKID');
    const bad = { ...body, secret: 'AKID:secret' };
    await assert.rejects(room.call('createCredential', room.acme, { body: bad }), isRefused);
    const secret = '{"access_key_id":"AKID","secret_access_key":"s"}';
    const { body: made } = await room.call('createCredential', room.acme, { body: { ...body, secret } });
    const change = { id: made.id, body: { secret: 'AKID' } };
    await assert.rejects(room.call('updateCredential', room.acme, change), isRefused);
  });

  it('need a provider of the same organization', async () => {
    const { provider } = await addOneOfEach(room, room.globex, 'Foreign');
    for (const providerId of [provider.id, 'nonsense']) {
      await assert.rejects(
        room.call('createCredential', room.acme, {
          body: { provider_id: providerId, name: 'K', secret: 'sk-x' },
        }),
        refusal('not_found', 'provider_id', /no such provider in this organization/),
      );
    }
  });

  it('are not deleted while an endpoint names them', async () => {
    const { provider, credential, endpoint } = await addOneOfEach(room, room.acme, 'In use');
    await room.call('updateEndpoint', room.acme, {
      id: endpoint.id,
      body: { credential_id: credential.id },
    });
    await assert.rejects(
      room.call('deleteCredential', room.acme, { id: credential.id }),
      refusal('conflict', 'credential_id', /endpoint "In use"/),
    );
    await room.call('updateEndpoint', room.acme, { id: endpoint.id, body: { credential_id: null } });
    await room.call('deleteCredential', room.acme, { id: credential.id });
    assert.equal((await room.call('getProvider', room.acme, { id: provider.id })).body.has_credential, false);
  });
});
