import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { AlertDestinationCreate } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import { type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const webhook: AlertDestinationCreate = {
  name: 'Pager',
  kind: 'webhook',
  url: 'https://alerts.example.com/hook?team=ops',
};

describe('destinations of alerts', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { egress: { allowedCidrs: ['127.0.0.1/32'] } });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const create = async (body: AlertDestinationCreate) =>
    (await room.call('createAlertDestination', room.acme, { body })).body;
  const remove = (id: string) => room.call('deleteAlertDestination', room.acme, { id });
  const rowOf = (id: string) =>
    room.db.selectFrom('alert_destinations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  async function secretOf(id: string): Promise<string> {
    const row = await rowOf(id);
    const place = { organizationId: row.organization_id, ownerId: id, secretVersion: row.secret_version };
    return room.sealer.open(row.sealed_secret ?? Buffer.alloc(0), secretBinding(place)).reveal();
  }

  it('get a signing secret that is shown once, or the one that was sent', async () => {
    const made = await create(webhook);
    assert.match(made.secret ?? '', /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(await secretOf(made.id), made.secret);
    const own = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
    const given = await create({ ...webhook, secret: own });
    assert.equal(given.secret, undefined);
    assert.equal(await secretOf(given.id), own);
    const next = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
    await room.call('updateAlertDestination', room.acme, { id: given.id, body: { secret: next } });
    assert.equal(await secretOf(given.id), next);
    const { body } = await room.call('listAlertDestinations', room.acme);
    assert.ok(!JSON.stringify(body).includes('whsec_'));
    const log = await room.db.selectFrom('audit_log').select(['before', 'after']).execute();
    assert.ok(!JSON.stringify(log).includes('whsec_'));
    await remove(made.id);
    await remove(given.id);
  });

  it('are those of the own organization', async () => {
    const { id } = await create(webhook);
    await assert.rejects(room.call('getAlertDestination', room.globex, { id }), refusal('not_found'));
    await assert.rejects(room.call('testAlertDestination', room.globex, { id }), refusal('not_found'));
    assert.deepEqual((await room.call('listAlertDestinations', room.globex)).body, []);
    await remove(id);
  });

  it('are refused where they fit no kind, lead inside, or need a mail server', async () => {
    const wrong: readonly (readonly [Partial<AlertDestinationCreate>, string])[] = [
      [{ url: null }, 'url'],
      [{ url: 'http://169.254.169.254/' }, 'url'],
      [{ url: 'http://10.0.0.1/' }, 'url'],
      [{ url: 'https://a.example.com/#part' }, 'url'],
      [{ address: 'ops@example.com' }, 'address'],
      [{ kind: 'mail', url: null, address: 'ops@example.com' }, 'kind'],
      [{ kind: 'mail', address: 'ops@example.com' }, 'url'],
      [{ kind: 'mail', url: null }, 'address'],
    ];
    for (const [over, param] of wrong)
      await assert.rejects(
        create({ ...webhook, ...over }),
        refusal('invalid_request', param),
        JSON.stringify(over),
      );
  });

  it('are at most twenty', async () => {
    const made = [];
    for (let count = 0; count < 20; count += 1) made.push((await create(webhook)).id);
    await assert.rejects(create(webhook), refusal('conflict', 'name'));
    for (const id of made) await remove(id);
  });

  it('are tested with a signed message, and the answer says what the receiver said', async () => {
    const received: string[] = [];
    let status = 204;
    const server = createServer((request, response) => {
      received.push(String(request.headers['webhook-signature']));
      response.writeHead(status).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { id } = await create({
      ...webhook,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    });
    const test = async () => (await room.call('testAlertDestination', room.acme, { id })).body;
    assert.deepEqual(
      { ...(await test()), latency_ms: 0 },
      {
        ok: true,
        status: 204,
        message: 'The destination accepted the test alert.',
        latency_ms: 0,
      },
    );
    status = 500;
    assert.deepEqual([(await test()).ok, (await test()).status], [false, 500]);
    assert.match(received[0] ?? '', /^v1,/);
    server.closeAllConnections();
    server.close();
    await remove(id);
  });

  it('have their alerts listed, newest first, with how each delivery stands', async () => {
    const { id: destinationId } = await create(webhook);
    const organization_id = room.acme.organizationId;
    const ids: string[] = [];
    for (let count = 1; count <= 3; count += 1) {
      const id = randomUUIDv7();
      ids.unshift(id);
      await room.db
        .insertInto('alert_events')
        .values({
          organization_id,
          id,
          policy_id: ids.at(-1) ?? '',
          policy_kind: 'resource',
          scope_type: 'global',
          metric: 'spend',
          period: 'day',
          limit_value: 100,
          used: 90,
          window_start: new Date(0),
          window_end: new Date(86_400_000),
          kind: 'threshold',
          threshold_percent: count,
        })
        .execute();
      await room.db
        .insertInto('alert_deliveries')
        .values({ organization_id, event_id: id, destination_id: destinationId, attempts: count })
        .execute();
    }
    const first = (await room.call('listAlerts', room.acme, { query: { limit: 2 } })).body;
    assert.deepEqual(
      first.data.map(({ id }) => id),
      ids.slice(0, 2),
    );
    assert.deepEqual(
      first.data[0]?.deliveries.map(({ destination_name, state, attempts }) => [
        destination_name,
        state,
        attempts,
      ]),
      [['Pager', 'pending', 3]],
    );
    const query = { limit: 2, cursor: first.next_cursor ?? '' };
    const second = (await room.call('listAlerts', room.acme, { query })).body;
    assert.deepEqual([second.data.map(({ id }) => id), second.next_cursor], [ids.slice(2), null]);
    assert.deepEqual((await room.call('listAlerts', room.globex)).body.data, []);
    const one = { policy_id: 'nothing' };
    assert.deepEqual((await room.call('listAlerts', room.acme, { query: one })).body.data, []);
    await remove(destinationId);
    assert.deepEqual((await room.call('listAlerts', room.acme)).body.data[0]?.deliveries, []);
  });
});

describe('alerts of a limit', () => {
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

  it('are kept in order without repeats, need a calendar window, and stay when a change leaves them out', async () => {
    const limit = { scope_type: 'global', metric: 'spend', period: 'day', limit_value: 5 } as const;
    const create = async (over: object) =>
      (await room.call('createLimitPolicy', room.acme, { body: { ...limit, ...over } })).body;
    const made = await create({ alert_at: [100, 50, 100], alert_on_forecast: true });
    assert.deepEqual([made.alert_at, made.alert_on_forecast], [[50, 100], true]);
    await assert.rejects(
      create({ period: 'minute', alert_at: [50] }),
      refusal('invalid_request', 'alert_at'),
    );
    await assert.rejects(
      create({ metric: 'concurrency', period: 'none', alert_on_forecast: true }),
      refusal('invalid_request', 'alert_on_forecast'),
    );
    const body = { ...limit, limit_value: 6, enabled: true };
    const changed = (await room.call('updateLimitPolicy', room.acme, { id: made.id, body })).body;
    assert.deepEqual([changed.limit_value, changed.alert_at], [6, [50, 100]]);
    const cleared = { ...body, alert_at: [], alert_on_forecast: false };
    const none = (await room.call('updateLimitPolicy', room.acme, { id: made.id, body: cleared })).body;
    assert.deepEqual([none.alert_at, none.alert_on_forecast], [[], false]);
  });

  it('end when the limit gets a window that is not a calendar one', async () => {
    const limit = { scope_type: 'global', metric: 'spend', limit_value: 5, enabled: true } as const;
    const made = await room.call('createLimitPolicy', room.acme, {
      body: { ...limit, period: 'day', alert_at: [50], alert_on_forecast: true },
    });
    const body = { ...limit, period: 'minute' } as const;
    const changed = (await room.call('updateLimitPolicy', room.acme, { id: made.body.id, body })).body;
    assert.deepEqual([changed.alert_at, changed.alert_on_forecast], [[], false]);
  });
});
