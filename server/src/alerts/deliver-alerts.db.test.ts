import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { systemClock } from '../kit/clock.ts';
import { createEgress } from '../kit/egress/index.ts';
import type { Letter } from '../mail/letter.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../store/fixtures/migrated-database.fixture.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import {
  addWebhook,
  evaluateAll,
  SIGNING_SECRET,
  sealer,
  silent,
  spend,
  windowAt,
} from './alerts.fixture.ts';
import { createDeliverAlerts, type DeliverDeps } from './deliver-alerts.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

describe('deliveries of alerts', () => {
  let migrated: MigratedDatabase;
  const egress = createEgress({
    allowedCidrs: ['127.0.0.1/32'],
    connectTimeoutMs: 1_000,
    connectionsPerOriginMax: 100,
    originsMax: 100,
  });
  const letters: Letter[] = [];
  let deps: DeliverDeps;
  const closing: (() => void)[] = [];

  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, utcDayOf(Date.now()), utcDayOf(Date.now() + 86_400_000));
    deps = {
      db: migrated.db,
      log: silent,
      egress,
      sealer,
      clock: systemClock,
      publicUrl: 'https://relay.example.com',
      // The shortest delay.
      random: () => 0,
      withinMs: 2_000,
      mail: {
        async deliver(letter) {
          letters.push(letter);
          return null;
        },
      },
    };
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) close();
    await migrated.db.deleteFrom('alert_deliveries').execute();
  });
  after(async () => {
    await egress.close();
    await migrated.drop();
  });

  async function receiver(answer: Answer): Promise<string> {
    async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      answer(request, response, Buffer.concat(chunks).toString());
    }
    const server = createServer((request, response) => void receive(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  async function addMailbox(organizationId: string): Promise<void> {
    const mailbox = { id: randomUUIDv7(), name: 'Ops', kind: 'mail', address: 'ops@example.com' } as const;
    await migrated.db
      .insertInto('alert_destinations')
      .values({ organization_id: organizationId, ...mailbox })
      .execute();
  }

  /** An organization in which `reach` makes a limit reach all of these thresholds. */
  async function organizationWith(thresholds: readonly number[]) {
    const { organizationId } = await seedOrganization(migrated.db);
    await migrated.db
      .insertInto('limit_policies')
      .values({
        organization_id: organizationId,
        id: randomUUIDv7(),
        scope_type: 'global',
        metric: 'spend',
        period: 'day',
        limit_value: 100,
        alert_at: thresholds,
      })
      .execute();
    return {
      organizationId,
      async reach() {
        await spend(migrated.db, organizationId, 100);
        await evaluateAll({ db: migrated.db, log: silent, windowAt });
      },
    };
  }

  const stateOf = (organizationId: string) =>
    migrated.db
      .selectFrom('alert_deliveries')
      .select(['state', 'attempts', 'last_status', 'last_error', 'next_at', 'event_id'])
      .where('organization_id', '=', organizationId)
      .orderBy('event_id')
      .execute();

  async function deliverDue(delivering = createDeliverAlerts(deps)): Promise<void> {
    while ((await delivering.start()) > 0) await Promise.all(delivering.busy());
  }
  const makeDue = () =>
    migrated.db
      .updateTable('alert_deliveries')
      .set({ next_at: new Date(0) })
      .execute();

  it('are signed as Standard Webhooks says, and carry the alert', async () => {
    const { organizationId, reach } = await organizationWith([80]);
    const verified: Record<string, unknown>[] = [];
    const url = await receiver((request, response, body) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      verified.push(new Webhook(SIGNING_SECRET).verify(body, headers) as Record<string, unknown>);
      assert.throws(() => new Webhook(SIGNING_SECRET).verify(`${body} `, headers));
      response.writeHead(204).end();
    });
    await addWebhook(migrated.db, organizationId, url);
    await reach();
    await deliverDue();
    assert.equal(verified.length, 1);
    const [message] = verified;
    assert.equal(message?.['type'], 'limit.threshold');
    assert.equal(message?.['threshold_percent'], 80);
    assert.deepEqual([message?.['used'], message?.['limit']], [100, 100]);
    assert.deepEqual(message?.['organization'], { id: organizationId, name: 'Acme' });
    const [delivery] = await stateOf(organizationId);
    assert.deepEqual(
      [delivery?.state, delivery?.attempts, delivery?.last_status, delivery?.event_id],
      ['delivered', 1, 204, message?.['id']],
    );
  });

  it('are repeated under the same id after an error, a redirect, a closed connection and no answer', async () => {
    const { organizationId, reach } = await organizationWith([50]);
    const ids: unknown[] = [];
    const url = await receiver((request, response) => {
      ids.push(request.headers['webhook-id']);
      if (ids.length === 1) response.writeHead(500).end();
      else if (ids.length === 2) response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
      else if (ids.length === 3) request.socket.destroy();
      else if (ids.length > 4) response.writeHead(200).end('ok');
    });
    await addWebhook(migrated.db, organizationId, url);
    await reach();
    const errors: unknown[] = [];
    for (let tries = 0; tries < 5; tries += 1) {
      const delivering = createDeliverAlerts({ ...deps, withinMs: 300 });
      await makeDue();
      await deliverDue(delivering);
      errors.push((await stateOf(organizationId))[0]?.last_error);
    }
    assert.deepEqual(errors, [
      'The receiver returned 500.',
      'The receiver returned 302.',
      'The connection failed.',
      'The receiver did not respond in time.',
      null,
    ]);
    assert.equal(new Set(ids).size, 1);
    assert.equal((await stateOf(organizationId))[0]?.state, 'delivered');
  });

  it('are made again when the worker that claimed one is gone', async () => {
    const { organizationId, reach } = await organizationWith([50]);
    await addWebhook(migrated.db, organizationId, 'http://127.0.0.1:1/');
    await reach();
    const { claimDeliveries } = await import('../store/alerts/alert-deliveries.ts');
    const options = { leaseMs: 1, mailLeaseMs: 1, perDestinationMax: 8, max: 8, busyIds: [] };
    const [held] = await claimDeliveries(migrated.db, { ...options, leaseMs: 60_000 });
    assert.equal(held?.deliveries.length, 1);
    assert.deepEqual(await claimDeliveries(migrated.db, options), []);
    await makeDue();
    const [first] = await claimDeliveries(migrated.db, options);
    const [second] = await claimDeliveries(migrated.db, options);
    assert.equal(first?.deliveries[0]?.event.id, second?.deliveries[0]?.event.id);
    assert.equal(second?.deliveries[0]?.attempts, 3);
  });

  it('to one receiver are at most eight at once, and a receiver that hangs holds no other up', async () => {
    const slow = await organizationWith(Array.from({ length: 5 }, (_, index) => index + 1));
    const fast = await organizationWith([1, 2, 3, 4, 5]);
    let [open, most, taken] = [0, 0, 0];
    const opened = new EventEmitter();
    const slowUrl = await receiver((request) => {
      open += 1;
      most = Math.max(most, open);
      request.socket.once('close', () => (open -= 1));
      opened.emit('one');
    });
    const fastUrl = await receiver((_request, response) => {
      taken += 1;
      response.writeHead(200).end();
    });
    for (let count = 0; count < 3; count += 1) await addWebhook(migrated.db, slow.organizationId, slowUrl);
    await addWebhook(migrated.db, fast.organizationId, fastUrl);
    await slow.reach();
    const delivering = createDeliverAlerts({ ...deps, withinMs: 1_000 });
    await delivering.start();
    if (open === 0) await once(opened, 'one');
    await fast.reach();
    assert.equal(await delivering.start(), 1);
    while (taken < 5) await Promise.race(delivering.busy());
    assert.ok(open > 0, 'the slow receiver still holds its deliveries');
    await Promise.all(delivering.busy());
    assert.equal(taken, 5);
    assert.ok(most <= 15);
    assert.ok(
      (await stateOf(slow.organizationId)).every(
        ({ state, attempts }) => state === 'pending' && attempts === 1,
      ),
    );
  });

  it('wait longer the more often a receiver fails, and soon where it takes other messages', async () => {
    const { organizationId, reach } = await organizationWith([50]);
    const url = await receiver((_request, response) => response.writeHead(500).end());
    await addWebhook(migrated.db, organizationId, url);
    await reach();
    const delivering = createDeliverAlerts(deps);
    const delays: number[] = [];
    for (let tries = 0; tries < 12; tries += 1) {
      await makeDue();
      await deliverDue(delivering);
      const [delivery] = await stateOf(organizationId);
      delays.push(Math.round(((delivery?.next_at.getTime() ?? 0) - Date.now()) / 1_000));
    }
    assert.ok((delays[0] ?? 9) <= 1 && (delays[4] ?? 0) >= 7 && (delays[11] ?? 0) >= 500, delays.join());
    // A worker that knows of no failure in a row tries again soon.
    await makeDue();
    await deliverDue(createDeliverAlerts(deps));
    const [delivery] = await stateOf(organizationId);
    assert.ok((delivery?.next_at.getTime() ?? 0) - Date.now() < 2_000);
  });

  it('are given up after three days, and shown', async () => {
    const { organizationId, reach } = await organizationWith([50]);
    await addWebhook(
      migrated.db,
      organizationId,
      await receiver((_request, response) => response.writeHead(410).end()),
    );
    await reach();
    const before = new Date(Date.now() - 3 * 86_400_000 - 1_000);
    await migrated.db.updateTable('alert_deliveries').set({ created_at: before }).execute();
    await deliverDue();
    const [delivery] = await stateOf(organizationId);
    assert.deepEqual([delivery?.state, delivery?.last_error], ['dead', 'The receiver returned 410.']);
  });

  it('to a destination that was disabled since are not made', async () => {
    const { organizationId, reach } = await organizationWith([50]);
    let taken = 0;
    const url = await receiver((_request, response) => {
      taken += 1;
      response.end();
    });
    const id = await addWebhook(migrated.db, organizationId, url);
    await reach();
    await migrated.db
      .updateTable('alert_destinations')
      .set({ enabled: false })
      .where('id', '=', id)
      .execute();
    await deliverDue();
    assert.deepEqual([(await stateOf(organizationId))[0]?.state, taken], ['dead', 0]);
  });

  it('do not reach addresses that providers may not have either', async () => {
    const { organizationId, reach } = await organizationWith([50]);
    await addWebhook(migrated.db, organizationId, 'http://169.254.169.254/latest');
    await reach();
    await deliverDue();
    assert.match((await stateOf(organizationId))[0]?.last_error ?? '', /doesn’t allow/);
  });

  for (const [name, shown] of [
    ['Ada', 'the member “Ada” on the lane “fast”'],
    ['https://evil.example.com', 'a member on the lane “fast”'],
  ] as const)
    it(`by mail name whose limit it is, and what it applies to: ${name}`, async () => {
      const { organizationId, userId } = await seedOrganization(migrated.db);
      await migrated.db.updateTable('users').set({ name }).where('id', '=', userId).execute();
      const laneId = randomUUIDv7();
      const lane = { id: laneId, organization_id: organizationId, name: 'fast', slug: 'fast' };
      await migrated.db.insertInto('lanes').values(lane).execute();
      await migrated.db
        .insertInto('user_limit_policies')
        .values({
          organization_id: organizationId,
          id: randomUUIDv7(),
          user_id: userId,
          target_type: 'lane',
          target_id: laneId,
          metric: 'spend',
          period: 'day',
          limit_value: 100,
          alert_at: [80],
        })
        .execute();
      await addMailbox(organizationId);
      await spend(migrated.db, organizationId, 90, { user_id: userId, lane_id: laneId });
      await evaluateAll({ db: migrated.db, log: silent, windowAt });
      await deliverDue();
      assert.match(
        letters.at(-1)?.text ?? '',
        new RegExp(`The daily limit of \\$0\\.0001 for ${shown} is 80% used`),
      );
    });

  it('by mail say which limit, how much of it is used, and where to look', async () => {
    const { organizationId, reach } = await organizationWith([80]);
    await addMailbox(organizationId);
    await reach();
    await deliverDue();
    const letter = letters.at(-1);
    assert.equal(letter?.to, 'ops@example.com');
    assert.match(letter?.subject ?? '', /80% used: Acme/);
    assert.match(letter?.text ?? '', /The daily limit of \$0\.0001 is 80% used\./);
    assert.match(letter?.text ?? '', /https:\/\/relay\.example\.com\/console\/alerts/);
    assert.equal((await stateOf(organizationId))[0]?.state, 'delivered');
  });
});
