import type { Transaction } from 'kysely';
import { bumpConfigVersion } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { applyFact } from './apply-fact.ts';
import type { BillingEvent, Fact } from './billing-fact.ts';
import {
  claimEvent,
  listWaiting,
  lockReferences,
  recordOutcome,
  removeOldEvents,
  type Settled,
  takeWaiting,
} from './event-rows.ts';

type ReceiveDeps = Pick<ManagementDeps, 'billing' | 'fences' | 'snapshots' | 'newId'>;

/** How many waiting events one event releases. The next event about the same object releases more. */
const RELEASED_MAX = 500;

/**
 * Applies an event once, and then the events that waited for it. Access that a plan change removes ends before
 * this returns. When it throws, Stripe delivers the event again, which releases the events that still wait.
 */
export async function receiveEvent(
  deps: ReceiveDeps,
  event: BillingEvent,
  requestId: string,
): Promise<Settled['outcome']> {
  const { db } = deps.billing;
  const settled = await db.transaction().execute(async (tx) => {
    await lockReferences(tx, event.fact);
    const known = await claimEvent(tx, event);
    if (known !== null) return { ...known, outcome: 'duplicate' as const, waitsFor: null };
    await removeOldEvents(tx);
    return settle(deps, tx, event, requestId);
  });
  await raiseFence(deps, settled);
  if (settled.outcome !== 'kept') await releaseWaiting(deps, event.fact, requestId);
  return settled.outcome;
}

async function settle(
  deps: ReceiveDeps,
  tx: Transaction<Database>,
  event: BillingEvent,
  requestId: string,
): Promise<Settled> {
  const applied = await applyFact(tx, event);
  const { organizationId, waitsFor } = applied;
  let configVersion: number | null = null;
  if (applied.waitsFor === null && applied.planChange !== null && organizationId !== null)
    configVersion = await changePlan(deps, tx, { organizationId, ...applied.planChange, requestId });
  const outcome = applied.waitsFor === null ? applied.outcome : 'kept';
  const settled: Settled = { outcome, organizationId, waitsFor, configVersion };
  await recordOutcome(tx, event, settled);
  return settled;
}

interface PlanChange {
  readonly organizationId: string;
  readonly from: string;
  readonly to: string;
  readonly requestId: string;
}

async function changePlan(
  deps: Pick<ReceiveDeps, 'newId'>,
  tx: Transaction<Database>,
  { organizationId, from, to, requestId }: PlanChange,
): Promise<number> {
  await tx
    .insertInto('audit_log')
    .values({
      organization_id: organizationId,
      id: deps.newId(),
      actor_type: 'system',
      action: 'organization.change_plan',
      target_type: 'organization',
      target_id: organizationId,
      before: JSON.stringify({ plan: from }),
      after: JSON.stringify({ plan: to }),
      request_id: requestId,
    })
    .execute();
  // Locks the configuration version before the organization's row, as every other change does.
  const version = await bumpConfigVersion(tx, organizationId);
  await tx.updateTable('organizations').set({ plan: to }).where('id', '=', organizationId).execute();
  return version;
}

/**
 * Raises the fence for a repeated event, too: the first delivery may have failed between commit and fence.
 */
async function raiseFence(deps: ReceiveDeps, { organizationId, configVersion }: RaisedBy): Promise<void> {
  if (organizationId === null || configVersion === null) return;
  await deps.fences.raise(organizationId, configVersion);
  await deps.snapshots.refreshNow(organizationId);
}
type RaisedBy = Pick<Settled, 'organizationId' | 'configVersion'>;

async function releaseWaiting(deps: ReceiveDeps, fact: Fact, requestId: string): Promise<void> {
  const { db } = deps.billing;
  const known = resolvedBy(fact);
  let left = RELEASED_MAX;
  // A released event may identify the organization of further waiting events.
  while (known.length > 0 && left > 0) {
    const waiting = await listWaiting(db, known.splice(0), left);
    left -= waiting.length;
    for (const { id, fact: waitingFact } of waiting) {
      const settled = await release(deps, id, waitingFact as Fact, requestId);
      if (settled !== null && settled.outcome !== 'kept') known.push(...resolvedBy(waitingFact as Fact));
    }
  }
}

async function release(
  deps: ReceiveDeps,
  id: string,
  fact: Fact,
  requestId: string,
): Promise<Settled | null> {
  const settled = await deps.billing.db.transaction().execute(async (tx) => {
    await lockReferences(tx, fact);
    const event = await takeWaiting(tx, id);
    return event === null ? null : settle(deps, tx, event, requestId);
  });
  if (settled !== null) await raiseFence(deps, settled);
  return settled;
}

/** The references that are known after the fact was applied. */
function resolvedBy(fact: Fact): string[] {
  if (fact.kind === 'product') return [fact.productId];
  const customer = fact.customerId === null ? [] : [fact.customerId];
  return fact.kind === 'billing_payments' ? [...customer, fact.row.id] : customer;
}
