import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allRoutes } from '@relay/contract';
import { type FreshDatabase, freshDatabase, startTcpProxy } from '@relay/testbed';
import { sql } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { addMember, asKey, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('a create with an Idempotency-Key', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
    });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const lane = (key: string, name: string, caller: Caller = room.acme) =>
    room.call('createLane', caller, {
      body: { name, takes_over: true },
      headers: { 'idempotency-key': key },
    });
  const lanesNamed = async (name: string, caller: Caller = room.acme) =>
    (await room.call('listLanes', caller)).body.filter((found) => found.name === name).length;
  const rowOf = (key: string) =>
    room.db.selectFrom('idempotency_keys').selectAll().where('key', '=', key).executeTakeFirst();

  it('sent twice creates once and gets the same answer, marked as a repeat', async () => {
    const first = await lane('twice', 'Twice');
    const second = await lane('twice', 'Twice');
    assert.deepEqual(second.body, first.body);
    assert.equal(first.headers.get('idempotency-replayed'), undefined);
    assert.equal(second.headers.get('idempotency-replayed'), 'true');
    assert.equal(second.headers.get('ETag'), first.headers.get('ETag'));
    assert.equal(await lanesNamed('Twice'), 1);
    assert.equal((await rowOf('twice'))?.response_status, 201);
  });

  it('sent 20 times at once creates once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lane('at-once', 'At once')));
    assert.equal(await lanesNamed('At once'), 1);
    const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    assert.equal(answers.filter(({ headers }) => !headers.has('idempotency-replayed')).length, 1);
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      refusal('idempotency_conflict', undefined, /still being served/)(result.reason);
      assert.equal(result.reason.detail.headers['Retry-After'], '1');
    }
    assert.equal((await lane('at-once', 'At once')).headers.get('idempotency-replayed'), 'true');
  });

  it('refuses the same key for another body or another route', async () => {
    await lane('reused', 'Reused');
    const different = refusal('idempotency_conflict', undefined, /different request/);
    await assert.rejects(lane('reused', 'Something else'), different);
    await assert.rejects(
      room.call('createProvider', room.acme, {
        body: { name: 'Reused', base_url: 'https://api.example.com' },
        headers: { 'idempotency-key': 'reused' },
      }),
      different,
    );
    assert.equal(await lanesNamed('Something else'), 0);
  });

  it('is the business of one caller: others may choose the same key', async () => {
    const member = await addMember(room, room.acme, 'admin');
    const callers = [
      room.acme,
      room.globex,
      member,
      asKey(member, ['relay:routing:manage']),
      asKey(member, ['relay:routing:manage']),
    ];
    const ids = await Promise.all(
      callers.map(async (caller) => (await lane('shared', 'Shared', caller)).body.id),
    );
    assert.equal(new Set(ids).size, callers.length);
  });

  it('keeps no secret of the answer, and repeats what was created without it', async () => {
    const create = () =>
      room.call('createApiKey', room.acme, {
        body: { name: 'CI', scopes: ['relay:request'] },
        headers: { 'idempotency-key': 'secret' },
      });
    const first = await create();
    const row = await rowOf('secret');
    assert.ok(row?.sealed_response !== null && row?.sealed_response !== undefined);
    const binding = ['idempotency', row.organization_id, row.caller_id, row.key];
    const stored: unknown = JSON.parse(room.sealer.open(row.sealed_response, binding).reveal());
    assert.ok(!JSON.stringify(stored).includes(first.body.api_key));
    const second: unknown = await create().catch((error: unknown) => error);
    assert.ok(refusal('secret_already_shown')(second));
    assert.ok(second instanceof RelayError);
    assert.deepEqual(second.detail.fields, { key: first.body.key });
    // A sealed response cannot be opened under another key.
    await lane('moved', 'Moved');
    await room.db
      .updateTable('idempotency_keys')
      .set({ sealed_response: row.sealed_response })
      .where('key', '=', 'moved')
      .execute();
    await assert.rejects(
      lane('moved', 'Moved'),
      refusal('idempotency_conflict', undefined, /doesn’t know if it took effect/),
    );
  });

  it('repeats an answer that could have shown a secret and did not', async () => {
    const create = (key: string, own: { secret?: string }) =>
      room.call('createAlertDestination', room.acme, {
        body: { name: 'Pager', kind: 'webhook', url: 'https://alerts.example.com/hook', ...own },
        headers: { 'idempotency-key': key },
      });
    const own = { secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` };
    const first = await create('own-secret', own);
    const second = await create('own-secret', own);
    assert.deepEqual(second.body, first.body);
    assert.equal(second.headers.get('idempotency-replayed'), 'true');

    const { secret, ...made } = (await create('made-secret', {})).body;
    assert.match(secret ?? '', /^whsec_/);
    const repeated: unknown = await create('made-secret', {}).catch((error: unknown) => error);
    assert.ok(refusal('secret_already_shown')(repeated));
    assert.ok(repeated instanceof RelayError);
    assert.deepEqual(repeated.detail.fields, { created: made });
  });

  it('that was refused may be tried again', async () => {
    const body = { lane_id: 'none', endpoint_id: 'none', manual_rank: 1 };
    const headers = { 'idempotency-key': 'refused' };
    await assert.rejects(
      room.call('createMembership', room.acme, { body, headers }),
      refusal('not_found', 'lane_id'),
    );
    assert.equal(await rowOf('refused'), undefined);
    assert.equal((await lane('refused', 'After a refusal')).body.name, 'After a refusal');
  });

  it('of a process that died is neither repeated nor run again, and says so', async () => {
    await lane('died', 'Died');
    const change = (created_at: ReturnType<typeof sql<Date>>) =>
      room.db
        .updateTable('idempotency_keys')
        .set({ response_status: null, sealed_response: null, created_at })
        .where('key', '=', 'died')
        .execute();
    await change(sql<Date>`now() - interval '9 minutes'`);
    await assert.rejects(
      lane('died', 'Died'),
      refusal('idempotency_conflict', undefined, /still being served/),
    );
    await change(sql<Date>`now() - interval '11 minutes'`);
    await assert.rejects(
      lane('died', 'Died'),
      refusal('idempotency_conflict', undefined, /took effect. List the resources/),
    );
    assert.equal(await lanesNamed('Died'), 1);
  });

  it('is forgotten after a day, and expired answers of every organization go in small batches', async () => {
    await lane('old', 'Old');
    await room.db
      .updateTable('idempotency_keys')
      .set({ expires_at: sql<Date>`now() - interval '1 second'` })
      .where('key', '=', 'old')
      .execute();
    assert.equal((await lane('old', 'Old')).headers.has('idempotency-replayed'), false);
    assert.equal(await lanesNamed('Old'), 2);

    await sql`insert into idempotency_keys
      (organization_id, caller_id, key, method, path, request_hash, expires_at)
      select ${room.globex.organizationId}, 'gone', 'gone ' || n, 'POST', '/', ${Buffer.alloc(32)},
        now() - interval '1 minute' from generate_series(1, 120) n`.execute(room.db);
    const left = async () => {
      const rows = await room.db
        .selectFrom('idempotency_keys')
        .select('key')
        .where('caller_id', '=', 'gone')
        .execute();
      return rows.length;
    };
    await lane('sweep 1', 'Sweep');
    assert.equal(await left(), 70);
    await lane('sweep 2', 'Sweep');
    await lane('sweep 3', 'Sweep');
    assert.equal(await left(), 0);
    assert.ok((await rowOf('twice')) !== undefined);
  });

  it('refuses a key that is empty, too long or not printable, by the name of the header', async () => {
    for (const key of ['', 'x'.repeat(256), 'tab\there', 'ä']) {
      await assert.rejects(lane(key, 'Bad key'), refusal('invalid_request', 'Idempotency-Key'));
    }
    await lane('x'.repeat(255), 'Long key');
    assert.equal(await lanesNamed('Bad key'), 0);
  });

  it('is honoured on every route whose contract says so', () => {
    const promised = allRoutes.filter(({ errors }) => errors.includes('idempotency_conflict'));
    assert.ok(promised.length >= 10);
    assert.ok(promised.every(({ method, success }) => method === 'POST' && success.schema !== undefined));
  });
});

describe('a create with an Idempotency-Key whose answer is lost', () => {
  it('is not run again when it took effect, and is when it did not', async () => {
    const database = await freshDatabase();
    const proxy = await startTcpProxy({ target: database.url });
    const room = await startManagement(proxy.url);
    try {
      const provider = (key: string) =>
        room.call('createProvider', room.acme, {
          body: { name: key, base_url: 'https://api.example.com' },
          headers: { 'idempotency-key': key },
        });
      // Creating a provider runs another query after the commit, and that query fails here.
      await sql`alter table credentials rename to hidden`.execute(room.db);
      await assert.rejects(provider('took effect'));
      await sql`alter table hidden rename to credentials`.execute(room.db);
      await assert.rejects(
        provider('took effect'),
        refusal('idempotency_conflict', undefined, /doesn’t know if it took effect/),
      );

      await sql`alter table providers rename to hidden`.execute(room.db);
      await assert.rejects(provider('no effect'));
      await sql`alter table hidden rename to providers`.execute(room.db);
      assert.equal((await provider('no effect')).headers.has('idempotency-replayed'), false);

      await proxy.refuse();
      await assert.rejects(provider('away'), refusal('store_unavailable'));
      await proxy.heal();
      await provider('away');

      const { body } = await room.call('listProviders', room.acme);
      assert.deepEqual(body.map(({ name }) => name).sort(), ['away', 'no effect', 'took effect']);
    } finally {
      await room.close();
      await proxy.close();
      await database.drop();
    }
  });
});
