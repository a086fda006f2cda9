import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, it } from 'node:test';
import { readEvent } from './read-event.ts';
import {
  customer,
  dispute,
  event,
  invoice,
  NOVEMBER,
  paymentIntent,
  product,
  refund,
  type SentEvent,
  subscription,
} from './stripe-events.fixture.ts';
import { fieldsOf } from './stripe-fields.ts';

const read = (sent: SentEvent) => readEvent(fieldsOf(sent, 'event'));
const refuses = (sent: SentEvent, param: string) =>
  assert.throws(
    () => read(sent),
    (error: { code?: string; detail?: { param?: string } }) =>
      error.code === 'invalid_request' && error.detail?.param === param,
    param,
  );

describe('what follows from an event', () => {
  it('is what is charged, in the minor unit of its currency, and nothing of the person', () => {
    const sent = event(
      'invoice.paid',
      invoice('cus_1', { id: 'in_1', currency: 'jpy', total: -5 }),
      NOVEMBER,
      'evt_1',
    );
    assert.deepEqual(read(sent), {
      id: 'evt_1',
      type: 'invoice.paid',
      at: '2026-11-01T00:00:00.000Z',
      fact: {
        kind: 'billing_invoices',
        customerId: 'cus_1',
        row: {
          id: 'in_1',
          status: 'open',
          currency: 'JPY',
          created_at: '2026-11-01T00:00:00.000Z',
          number: 'A-0001',
          total: -5,
          amount_due: 4_900,
          amount_paid: 0,
          amount_remaining: 4_900,
          subscription_id: 'sub_1',
          period_start: '2026-11-01T00:00:00.000Z',
          period_end: '2026-11-02T00:00:00.000Z',
          due_at: null,
          paid_at: null,
          hosted_invoice_url: 'https://invoice.example.com/i/1',
          invoice_pdf_url: 'https://invoice.example.com/i/1.pdf',
        },
      },
    });
    const kept = [
      read(sent),
      read(event('customer.created', customer('cus_1', randomUUIDv7()))),
      read(event('payment_intent.succeeded', paymentIntent('cus_1'))),
    ];
    assert.doesNotMatch(JSON.stringify(kept), /example\.com"?,"email|billing@|a-secret-of-stripe/);
  });

  it('is nothing for events that it does not know, drafts, and what is nobody’s', () => {
    for (const sent of [
      event('invoice.upcoming', invoice('cus_1', { id: undefined })),
      event('constructor', invoice('cus_1')),
      event('invoice.updated', invoice('cus_1', { status: 'draft' })),
      event('payment_intent.succeeded', paymentIntent(null)),
      event('customer.created', customer('cus_1')),
      event('customer.created', customer('cus_1', 'not an organization')),
      event('checkout.session.completed', { id: 'cs_1', customer: null, metadata: {} }),
    ])
      assert.equal(read(sent), null, sent.type);
  });

  it('does not take the organization from what a buyer can choose', () => {
    const organizationId = randomUUIDv7();
    const session = {
      id: 'cs_1',
      customer: 'cus_1',
      subscription: 'sub_1',
      client_reference_id: organizationId,
    };
    const fact = {
      kind: 'link',
      activity: 'checkout.completed',
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
    };
    const told = (metadata: object | null) =>
      read(event('checkout.session.completed', { ...session, metadata }))?.fact;
    assert.deepEqual(told(null), { ...fact, organizationId: null });
    assert.deepEqual(told({ organization_id: organizationId.toUpperCase() }), { ...fact, organizationId });
  });

  it('names the payment of a refund and a dispute, whether Stripe sends its id or the whole of it', () => {
    for (const sent of [
      event('refund.created', refund('pi_1')),
      event('charge.dispute.created', dispute('pi_1')),
      event('charge.dispute.created', dispute('pi_1', { payment_intent: 'pi_1' })),
    ]) {
      const fact = read(sent)?.fact;
      assert.ok(fact?.kind === 'billing_refunds' || fact?.kind === 'billing_disputes');
      assert.equal(fact.row.payment_id, 'pi_1');
      assert.equal(fact.customerId, null);
    }
  });

  it('names every product of a subscription once', () => {
    const fact = read(
      event('customer.subscription.updated', subscription('cus_1', ['p2', 'p1', 'p2'])),
    )?.fact;
    assert.ok(fact?.kind === 'subscription');
    assert.deepEqual(fact.row.product_ids, ['p1', 'p2']);
  });

  it('lets products stand for plans that are sold, and for no other', () => {
    for (const [plan, expected] of [
      ['team', 'team'],
      ['free', 'free'],
      ['enterprise', 'enterprise'],
      ['self_hosted', null],
      ['closed', null],
      ['constructor', null],
      [undefined, null],
    ] as const)
      assert.deepEqual(read(event('product.updated', product('p1', plan)))?.fact, {
        kind: 'product',
        productId: 'p1',
        plan: expected,
      });
  });

  it('is refused by the name of the field that cannot be read', () => {
    const cases: readonly [SentEvent, string][] = [
      [event('invoice.paid', invoice('cus_1', { total: '4900' })), 'event.data.object.total'],
      [event('invoice.paid', invoice('cus_1', { total: 1.5 })), 'event.data.object.total'],
      [event('invoice.paid', invoice('cus_1', { created: 1e15 })), 'event.data.object.created'],
      [event('invoice.paid', invoice('c'.repeat(300))), 'event.data.object.customer'],
      [event('invoice.paid', invoice('cus_1', { number: 'a\0b' })), 'event.data.object.number'],
      [event('invoice.paid', invoice('cus_1', { id: '' })), 'event.data.object.id'],
      [
        event('customer.subscription.created', subscription('cus_1', [], { items: { data: 1 } })),
        'event.data.object.items.data',
      ],
      [{ ...event('invoice.paid', invoice('cus_1')), created: Number.NaN }, 'event.created'],
      [{ ...event('invoice.paid', invoice('cus_1')), id: '' }, 'event.id'],
    ];
    for (const [sent, param] of cases) refuses(sent, param);
  });
});
