import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { freshDatabase } from '@relay/testbed';
import { type Kysely, sql } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type ManagementFixture, refusal, startManagement } from '../fixture.ts';
import { type BillingRoom, startBilling } from './billing-room.fixture.ts';
import * as stripe from './stripe-events.fixture.ts';

const { event, freshId, NOVEMBER } = stripe;

describe('events of Stripe', () => {
  let billing: BillingRoom;
  let room: ManagementFixture;
  before(async () => {
    billing = await startBilling();
    ({ room } = billing);
  });
  after(() => billing.close());

  const send = (...sent: stripe.SentEvent[]) => billing.send(...sent);
  const historyOf = (caller: Caller) => billing.historyOf(caller);

  describe('are taken', () => {
    it('only with a signature over the body exactly as it was sent', async () => {
      const sent = event('product.created', stripe.product(freshId('prod')));
      const right = stripe.signed(sent);
      const refused = refusal('invalid_request', 'stripe-signature', /RELAY_STRIPE_WEBHOOK_SECRET/);
      for (const wrong of [
        stripe.signed(sent, { secret: 'whsec_another' }),
        stripe.signed(sent, { atMs: Date.now() - 301_000 }),
        { ...right, body: right.body.replace('prod_', 'prox_') },
        { ...right, body: JSON.stringify(sent) },
        { ...right, body: '' },
        { ...right, headers: {} },
        { ...right, headers: { 'stripe-signature': 't=1,v1=00' } },
        stripe.signed({ object: 'v2.core.event' }),
      ])
        await assert.rejects(room.call('receiveStripeEvent', room.acme, wrong), refused);
      assert.equal(await billing.eventRow(sent.id), undefined);
      assert.deepEqual((await room.call('receiveStripeEvent', room.acme, right)).body, {
        received: true,
        outcome: 'applied',
      });
    });

    it('and change nothing when nothing is known of their type', async () => {
      const sent = event('account.updated', { id: 'acct_1' });
      assert.deepEqual(await send(sent, sent), ['ignored', 'ignored']);
      assert.equal(await billing.eventRow(sent.id), undefined);
    });
  });

  it('fill the history of the organization whose customer they are about, newest first', async () => {
    const { caller, customerId } = await billing.organization();
    const payment = stripe.paymentIntent(customerId);
    const older = stripe.invoice(customerId, { created: NOVEMBER - 5 });
    const newer = stripe.invoice(customerId);
    await send(
      event('invoice.finalized', newer),
      event('invoice.finalized', older),
      event('payment_intent.succeeded', payment),
      event('refund.created', stripe.refund(payment.id)),
      event('charge.dispute.created', stripe.dispute(payment.id)),
    );
    const history = await historyOf(caller);
    assert.deepEqual(
      history.invoices.map(({ id }) => id),
      [newer.id, older.id],
    );
    assert.deepEqual(history.payments, [
      {
        id: payment.id,
        status: 'succeeded',
        currency: 'USD',
        amount: 4_900,
        amount_received: 4_900,
        failure_code: null,
        created_at: '2026-11-01T00:00:00.000Z',
      },
    ]);
    assert.deepEqual(
      [history.refunds, history.disputes].map((records) => records.map(({ payment_id }) => payment_id)),
      [[payment.id], [payment.id]],
    );
    assert.deepEqual(
      history.activities.map(({ type }) => type),
      ['customer.linked'],
    );
    assert.deepEqual((await historyOf(room.globex)).invoices, []);
  });

  it('count once, however often and however many at a time they are delivered', async () => {
    const { caller, customerId } = await billing.organization();
    const invoice = stripe.invoice(customerId);
    const sent = event('invoice.finalized', invoice);
    const seen = await Promise.all(Array.from({ length: 8 }, () => send(sent)));
    assert.deepEqual(seen.flat().sort(), ['applied', ...Array(7).fill('duplicate')]);
    // An old event that is delivered again does not revert newer state.
    await send(event('invoice.paid', { ...invoice, status: 'paid' }, NOVEMBER + 9));
    assert.deepEqual(await send(sent), ['duplicate']);
    assert.deepEqual(
      (await historyOf(caller)).invoices.map(({ status }) => status),
      ['paid'],
    );
  });

  describe('in whatever order they come', () => {
    it('leave the state of the newest, and of those of one second the furthest', async () => {
      const { caller, customerId } = await billing.organization();
      const payment = stripe.paymentIntent(customerId);
      const steps = [
        ['payment_intent.processing', 'processing', 0],
        ['payment_intent.payment_failed', 'requires_payment_method', 1],
        ['payment_intent.processing', 'processing', 2],
        ['payment_intent.succeeded', 'succeeded', 2],
      ] as const;
      for (const order of permutations([0, 1, 2, 3])) {
        const id = freshId('pi');
        for (const index of order) {
          const [type, status, second] = steps[index] ?? steps[0];
          await send(event(type, { ...payment, id, status }, NOVEMBER + second));
        }
        const found = (await historyOf(caller)).payments.find((each) => each.id === id);
        assert.equal(found?.status, 'succeeded', order.join());
      }
    });

    it('say so when they came too late', async () => {
      const { customerId } = await billing.organization();
      const invoice = stripe.invoice(customerId);
      const seen = await send(
        event('invoice.paid', { ...invoice, status: 'paid' }, NOVEMBER + 1),
        event('invoice.finalized', invoice, NOVEMBER),
      );
      assert.deepEqual(seen, ['applied', 'outdated']);
    });

    it('wait for what tells whose they are, and are applied then', async () => {
      const { caller, customerId, link } = await billing.organization('unlinked');
      const productId = freshId('prod');
      const payment = stripe.paymentIntent(customerId);
      const early = [
        event('charge.dispute.created', stripe.dispute(payment.id)),
        event('refund.created', stripe.refund(payment.id)),
        event('customer.subscription.created', stripe.subscription(customerId, [productId])),
        event('payment_intent.succeeded', payment),
        event('invoice.paid', stripe.invoice(customerId, { status: 'paid' })),
      ];
      assert.deepEqual(new Set(await send(...early)), new Set(['kept']));
      assert.deepEqual(await send(...early.slice(4)), ['duplicate']);
      const empty = await historyOf(caller);
      assert.deepEqual(Object.values(empty).flat(), []);

      assert.deepEqual(await send(link), ['applied']);
      const history = await historyOf(caller);
      const { invoices, payments, refunds, disputes, activities } = history;
      assert.deepEqual(
        [invoices, payments, refunds, disputes].map((records) => records.length),
        [1, 1, 1, 1],
      );
      assert.deepEqual(activities.map(({ type, plan }) => [type, plan]).sort(), [
        ['customer.linked', null],
        ['subscription.created', null],
      ]);
      assert.equal(await billing.planOf(caller), 'self_hosted');

      assert.deepEqual(await send(event('product.created', stripe.product(productId, 'team'))), ['applied']);
      assert.equal(await billing.planOf(caller), 'team');
      const told = (await historyOf(caller)).activities.find(({ type }) => type === 'subscription.created');
      assert.equal(told?.plan, 'team');
      for (const { id } of early) {
        const row = await billing.eventRow(id);
        assert.deepEqual(
          [row?.organization_id, row?.waits_for, row?.fact],
          [caller.organizationId, null, null],
        );
      }
    });

    it('are not lost when what tells whose they are comes while they are being put aside', async () => {
      const { caller, customerId, link } = await billing.organization('unlinked');
      const sent = event('invoice.paid', stripe.invoice(customerId));
      await sql`
        create function hold_event() returns trigger language plpgsql as
          $$ begin perform pg_advisory_xact_lock(42); return new; end $$`.execute(room.db);
      await sql`
        create trigger hold_event before update on billing_events for each row when (new.id = ${sql.lit(sent.id)})
          execute function hold_event()`.execute(room.db);
      const [kept, linked] = await room.db.connection().execute(async (holder) => {
        await sql`select pg_advisory_lock(42)`.execute(holder);
        const [first, second] = [send(sent), untilHeld(holder).then(() => send(link))];
        // The second must have started before the first continues.
        await Promise.race([second, untilHeld(holder, 2)]);
        await sql`select pg_advisory_unlock(42)`.execute(holder);
        return Promise.all([first, second]);
      });
      assert.deepEqual([kept, linked], [['kept'], ['applied']]);
      assert.equal((await historyOf(caller)).invoices.length, 1);
      await sql`drop trigger hold_event on billing_events`.execute(room.db);
    });
  });

  it('of a customer of nobody are kept aside, counted, and without what they say of a person', async () => {
    const waiting = async () => {
      const rows = await room.db
        .selectFrom('billing_events')
        .select('id')
        .where('waits_for', 'is not', null)
        .execute();
      return rows.length;
    };
    const count = await waiting();
    const sent = event('invoice.paid', stripe.invoice(freshId('cus')));
    assert.deepEqual(await send(sent), ['kept']);
    assert.equal(await waiting(), count + 1);
    const row = await billing.eventRow(sent.id);
    assert.equal(row?.organization_id, null);
    assert.doesNotMatch(JSON.stringify(row?.fact), /billing@/);
  });

  it('never give a customer, or what is theirs, to a second organization', async () => {
    const one = await billing.organization();
    const other = await billing.organization();
    const third = await billing.organization('unlinked');
    const claims = [
      stripe.customer(one.customerId, third.caller.organizationId),
      stripe.customer(freshId('cus'), other.caller.organizationId),
      stripe.customer(freshId('cus'), randomUUIDv7()),
    ].map((each) => event('customer.updated', each, NOVEMBER + 60));
    assert.deepEqual(await send(...claims), ['ignored', 'ignored', 'ignored']);
    const invoice = stripe.invoice(one.customerId);
    await send(event('invoice.paid', invoice));
    // Stripe never moves an object to another customer, so Relay ignores such an event.
    const moved = { ...invoice, customer: other.customerId, total: 1 };
    assert.deepEqual(await send(event('invoice.paid', moved, NOVEMBER + 60)), ['outdated']);
    assert.equal((await historyOf(one.caller)).invoices[0]?.total, 4_900);
    assert.deepEqual((await historyOf(other.caller)).invoices, []);
    assert.deepEqual((await historyOf(third.caller)).activities, []);
  });

  it('that are old are forgotten at the pace of those that come', async () => {
    const { customerId } = await billing.organization();
    const ids = Array.from({ length: 3 }, () => freshId('evt'));
    const old = new Date(Date.now() - 91 * 86_400_000);
    await room.db
      .insertInto('billing_events')
      .values(ids.map((id) => ({ id, type: 'invoice.paid', created_at: old, received_at: old })))
      .execute();
    await send(
      event('invoice.paid', stripe.invoice(customerId)),
      event('invoice.paid', stripe.invoice(customerId)),
    );
    for (const id of ids) assert.equal(await billing.eventRow(id), undefined);
  });
});

describe('a deployment that charges nobody', () => {
  it('has an empty history and takes no events', async () => {
    const database = await freshDatabase();
    const room = await startManagement(database.url, { stripeWebhookSecret: stripe.WEBHOOK_SECRET });
    const { body } = await room.call('getBillingHistory', room.acme);
    assert.deepEqual(body, { invoices: [], payments: [], refunds: [], disputes: [], activities: [] });
    const sent = stripe.signed(event('product.created', stripe.product('prod_1')));
    await assert.rejects(room.call('receiveStripeEvent', room.acme, sent), refusal('mode_unsupported'));
    await room.close();
    await database.drop();
  });
});

/** Resolves when this many sessions wait for an advisory lock. */
async function untilHeld(db: Kysely<Database>, sessions = 1): Promise<void> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*) as waiting from pg_locks
    where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  if ((rows[0]?.waiting ?? 0) < sessions) await untilHeld(db, sessions);
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}
