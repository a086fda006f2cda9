import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BillingHistory, UsageStatement } from '@relay/contract';
import { type Shown, type Story, storyOf } from '../harness/billing-story.ts';
import { reportFigures } from '../harness/figures.ts';
import * as stripe from '../harness/stripe-account.ts';
import { afterMs } from '../harness/until.ts';
import {
  addPricedLane,
  ask,
  type Hosted,
  historyOf,
  planOf,
  type Receipt,
  startHosted,
  type Tenant,
} from './hosted-company.ts';

// Signed Stripe events for a hosted deployment: out of order, repeated, forged, and about other organizations.

const MONTHS = 6;
const STATEMENT_MS_MAX = 20_000;

let hosted: Hosted;
let events = 0;
let wrong = 0;

before(async () => {
  hosted = await startHosted();
});
after(async () => {
  reportFigures({ events, wrong });
  await hosted?.stop();
});

function demandNothing(problems: readonly string[]): void {
  wrong += problems.length;
  assert.deepEqual(problems, []);
}

const deliver: Hosted['deliver'] = (event, how) => {
  events += 1;
  return hosted.deliver(event, how);
};

/** Every valid event is acknowledged. */
function unacknowledged(receipts: readonly Receipt[]): string[] {
  return receipts
    .filter(({ status }) => status !== 200)
    .map(({ status }) => `an event was answered ${status}`);
}

function unlike(history: BillingHistory, story: Story): string[] {
  const seen = {
    invoices: history.invoices.map(({ id, status, total }): Shown => [id, status, total]),
    payments: history.payments.map(({ id, status, amount }): Shown => [id, status, amount]),
    refunds: history.refunds.map(({ id, status, amount }): Shown => [id, status, amount]),
    disputes: history.disputes.map(({ id, status, amount }): Shown => [id, status, amount]),
  };
  const problems: string[] = [];
  for (const list of ['invoices', 'payments', 'refunds', 'disputes'] as const) {
    const found = JSON.stringify(seen[list].toSorted(([one], [other]) => (one < other ? -1 : 1)));
    if (found !== JSON.stringify(story.shown[list])) problems.push(`${list} are ${found}`);
  }
  const activities = history.activities.map(({ type }) => type).toSorted();
  if (activities.join() !== story.activities.join()) problems.push(`activities are ${activities.join()}`);
  const times = history.activities.map(({ created_at }) => created_at);
  if (times.join() !== times.toSorted().toReversed().join()) problems.push('the newest is not first');
  return problems;
}

describe('a history told by events', () => {
  const orders: readonly (readonly [
    name: string,
    order: (told: readonly stripe.StripeEvent[]) => stripe.StripeEvent[],
  ])[] = [
    ['in order', (told) => [...told]],
    ['backwards', (told) => told.toReversed()],
    ['shuffled, at two processes at once', shuffled],
    ['shuffled, at two processes at once, and twice', (told) => shuffled([...told, ...told])],
  ];
  for (const [name, order] of orders) {
    it(`is the same when they come ${name}`, async () => {
      const tenants = [await hosted.addTenant(), await hosted.addTenant()];
      const stories = tenants.map(({ organizationId }) => storyOf(organizationId, MONTHS));
      const queue = order(stories.flatMap((story) => story.events));
      const receipts: Receipt[] = [];
      const work = async (process: number) => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift())
          receipts.push(await deliver(next, { process }));
      };
      await Promise.all((name.includes('at once') ? [0, 1, 0, 1] : [0]).map(work));
      demandNothing(unacknowledged(receipts));
      for (const [index, tenant] of tenants.entries()) {
        const story = stories[index];
        assert.ok(story !== undefined);
        demandNothing(unlike(await historyOf(tenant), story));
        const plan = await planOf(hosted, tenant);
        demandNothing(plan === story.plan ? [] : [`the plan is ${plan}`]);
      }
    });
  }

  it('counts every event once, and keeps none waiting that could be told', async () => {
    const [row] = await hosted.accounts.query(
      'select count(*) filter (where waits_for is not null) as waiting, count(*) filter (where fact is not null) as facts from billing_events',
    );
    demandNothing(
      Number(row?.['waiting']) === 0 && Number(row?.['facts']) === 0 ? [] : [JSON.stringify(row)],
    );
  });
});

describe('what is not from Stripe', () => {
  it('is refused and changes nothing, whatever is wrong with it', async () => {
    const tenant = await hosted.addTenant();
    const link = stripe.eventAt(
      0,
      'customer.created',
      stripe.customer(stripe.newId('cus'), tenant.organizationId),
    );
    const attempts: readonly [name: string, how: Parameters<Hosted['deliver']>[1]][] = [
      ['another secret', { secret: 'whsec_of_somebody_else_entirely' }],
      ['a signature of six minutes ago', { atMs: Date.now() - 360_000 }],
      ['another body', { alter: (body) => body.replace('customer.created', 'customer.updated') }],
      ['the same in other words', { alter: (body) => JSON.stringify(JSON.parse(body)) }],
      ['no body', { alter: () => '' }],
    ];
    for (const [name, how] of attempts) {
      const { status, error } = await deliver(link, how);
      const right = status === 400 && error?.param === 'stripe-signature';
      demandNothing(right ? [] : [`${name} was answered ${status} ${error?.code}`]);
    }
    const response = await fetch(`${hosted.deployment.url}/api/billing/stripe-webhook`, {
      method: 'POST',
      body: null,
    });
    demandNothing(response.status === 400 ? [] : [`nothing at all was answered ${response.status}`]);
    demandNothing((await historyOf(tenant)).activities.map(({ type }) => `${type} was taken`));
  });
});

describe('a customer of nobody', () => {
  it('is heard of and counted, and is the organization’s from when it is said to be', async () => {
    const tenant = await hosted.addTenant();
    const story = storyOf(tenant.organizationId, 1);
    const [link, ...rest] = story.events;
    assert.ok(link !== undefined);
    const count = async () => {
      const [row] = await hosted.accounts.query(
        'select count(*) from billing_events where waits_for is not null',
      );
      return Number(row?.['count']);
    };
    const receipts: Receipt[] = [];
    for (const event of rest) receipts.push(await deliver(event));
    demandNothing(unacknowledged(receipts));
    const kept = receipts.filter(({ outcome }) => outcome === 'kept').length;
    demandNothing(
      kept > 0 && (await count()) === kept ? [] : [`${await count()} are counted, ${kept} were kept`],
    );
    demandNothing(Object.values(await historyOf(tenant)).flat().length === 0 ? [] : ['something is shown']);
    // Other events of others release nothing.
    await deliver(
      stripe.eventAt(
        1,
        'customer.created',
        stripe.customer(stripe.newId('cus'), tenant.organizationId.replace(/^.{8}/, '00000000')),
      ),
    );
    demandNothing((await count()) === kept ? [] : ['somebody else released them']);
    await deliver(link);
    demandNothing(unlike(await historyOf(tenant), story));
    demandNothing((await count()) === 0 ? [] : [`${await count()} still wait`]);
  });
});

describe('two organizations', () => {
  it('never see what is the other’s, nor become one another’s customer', async () => {
    const [ours, theirs] = [await hosted.addTenant(), await hosted.addTenant()];
    const [mine, yours] = [storyOf(ours.organizationId, 2), storyOf(theirs.organizationId, 2)];
    for (const event of [...mine.events, ...yours.events]) await deliver(event);
    const stolen = stripe.customer(yours.customerId, ours.organizationId);
    await deliver(stripe.eventAt(5_000, 'customer.updated', stolen));
    const invoiceId = yours.shown.invoices[0]?.[0] ?? '';
    await deliver(
      stripe.eventAt(5_000, 'invoice.updated', stripe.invoice(invoiceId, mine.customerId, 'open', 1)),
    );
    demandNothing(unlike(await historyOf(ours), mine));
    demandNothing(unlike(await historyOf(theirs), yours));
  });
});

describe('a plan', () => {
  let tenant: Tenant;
  const customerId = stripe.newId('cus');
  const productId = stripe.newId('prod');
  const subscriptionId = stripe.newId('sub');
  const told = (second: number, type: string, status: string) =>
    deliver(
      stripe.eventAt(
        second,
        `customer.subscription.${type}`,
        stripe.subscription(subscriptionId, customerId, productId, status),
      ),
    );
  let served = 0;
  let costMicros = 0;

  before(async () => {
    tenant = await hosted.addTenant();
    await addPricedLane(hosted, tenant);
    await deliver(stripe.eventAt(0, 'product.created', stripe.product(productId, 'team')));
    await deliver(stripe.eventAt(0, 'customer.created', stripe.customer(customerId, tenant.organizationId)));
    await told(1, 'created', 'active');
  });

  const both = async (): Promise<string> => {
    const answers = await Promise.all([0, 1].map((process) => ask(hosted, tenant, process)));
    for (const each of answers)
      if (each.answer === '200') [served, costMicros] = [served + 1, costMicros + each.costMicros];
    return answers.map(({ answer }) => answer).join(', ');
  };

  it('is in force for the next request at every process, when it ends and when it begins again', async () => {
    const steps: readonly [second: number, type: string, status: string, expected: string][] = [
      [2, 'updated', 'past_due', '200, 200'],
      [3, 'updated', 'unpaid', '403 product_access_denied, 403 product_access_denied'],
      [4, 'updated', 'active', '200, 200'],
      [5, 'deleted', 'canceled', '403 product_access_denied, 403 product_access_denied'],
      // A late event about an earlier state grants nothing.
      [4, 'updated', 'active', '403 product_access_denied, 403 product_access_denied'],
    ];
    for (const [second, type, status, expected] of steps) {
      demandNothing(unacknowledged([await told(second, type, status)]));
      const seen = await both();
      demandNothing(seen === expected ? [] : [`after ${type} to ${status}: ${seen}`]);
    }
  });

  it('that has ended leaves the account and its bills to be read', async () => {
    const { activities } = await historyOf(tenant);
    demandNothing(
      activities[0]?.plan === 'closed' ? [] : [`the last of it is ${JSON.stringify(activities[0])}`],
    );
  });

  it('is no matter to the statement of what was used, which is by the prices and apart from invoices', async () => {
    const month = new Date().toISOString().slice(0, 7);
    const deadlineMs = performance.now() + STATEMENT_MS_MAX;
    for (;;) {
      const { status, body } = await tenant.api.call('GET', `/api/billing/usage-statements?month=${month}`);
      assert.equal(status, 200);
      const { totals, lines, basis } = body as UsageStatement;
      if (totals.metered_requests >= served || performance.now() > deadlineMs) {
        const seen = [basis, totals.metered_requests, totals.metered_spend_micros];
        demandNothing(
          seen.join() === ['configured_prices', served, costMicros].join()
            ? []
            : [`the statement is ${seen.join()}`],
        );
        const line = lines.map((each) => [each.user_uuid, each.api_key_id, each.metered_spend_micros]);
        assert.deepEqual(line, [[tenant.userId, tenant.keyId, costMicros]]);
        return;
      }
      await afterMs(50);
    }
  });
});

/** The same order in every run: what differs between runs is only who gets there first. */
function shuffled<T>(items: readonly T[]): T[] {
  let state = items.length;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  const keyed = items.map((item) => ({ item, key: next() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
}
