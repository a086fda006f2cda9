import assert from 'node:assert/strict';
import type { BillingHistory, StripeEventReceipt } from '@relay/contract';
import { freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import { addOrganization, type ManagementFixture, startManagement } from '../fixture.ts';
import {
  customer,
  event,
  freshId,
  product,
  type SentEvent,
  signed,
  WEBHOOK_SECRET,
} from './stripe-events.fixture.ts';

type Outcome = StripeEventReceipt['outcome'];

/** Management of a hosted deployment that receives Stripe events, with its own database. */
export interface BillingRoom {
  readonly room: ManagementFixture;
  /** Fences raised so far. While `fail` is set, raising one fails. */
  readonly fences: { fail: boolean; raised: { organizationId: string; version: number }[] };
  /** Delivers the events one after another. */
  send(...sent: SentEvent[]): Promise<Outcome[]>;
  historyOf(caller: Caller): Promise<BillingHistory>;
  planOf(caller: Caller): Promise<string>;
  eventRow(id: string): ReturnType<typeof eventRowOf>;
  /** Creates an organization and its customer, linked or not. */
  organization(linked?: 'linked' | 'unlinked'): Promise<Customer>;
  /** Creates a product that sells a plan. */
  productFor(plan: string): Promise<string>;
  close(): Promise<void>;
}

export interface Customer {
  readonly caller: Caller;
  readonly customerId: string;
  /** The event that links the customer to its organization. */
  readonly link: SentEvent;
}

export async function startBilling(): Promise<BillingRoom> {
  const database = await freshDatabase();
  const fences: BillingRoom['fences'] = { fail: false, raised: [] };
  const room = await startManagement(database.url, {
    deployment: { mode: 'hosted', accounts: true, version: '0.0.0' },
    stripeWebhookSecret: WEBHOOK_SECRET,
    fences: {
      raise: async (organizationId, version) => {
        if (fences.fail) throw new Error('Redis is away');
        fences.raised.push({ organizationId, version });
      },
    },
  });

  async function send(...sent: SentEvent[]): Promise<Outcome[]> {
    const seen: Outcome[] = [];
    for (const each of sent)
      seen.push((await room.call('receiveStripeEvent', room.acme, signed(each))).body.outcome);
    return seen;
  }

  return {
    room,
    fences,
    send,
    historyOf: async (caller) => (await room.call('getBillingHistory', caller)).body,
    async planOf({ organizationId }) {
      const query = room.db.selectFrom('organizations').select('plan').where('id', '=', organizationId);
      return (await query.executeTakeFirstOrThrow()).plan;
    },
    eventRow: (id) => eventRowOf(room, id),
    async organization(linked = 'linked') {
      const caller = await addOrganization(room.db, freshId('org'));
      const customerId = freshId('cus');
      const link = event('customer.created', customer(customerId, caller.organizationId));
      if (linked === 'linked') assert.deepEqual(await send(link), ['applied']);
      return { caller, customerId, link };
    },
    async productFor(plan) {
      const id = freshId('prod');
      await send(event('product.created', product(id, plan)));
      return id;
    },
    async close() {
      await room.close();
      await database.drop();
    },
  };
}

function eventRowOf({ db }: ManagementFixture, id: string) {
  return db.selectFrom('billing_events').selectAll().where('id', '=', id).executeTakeFirst();
}
