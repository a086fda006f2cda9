import type { BillingHistory } from '@relay/contract';
import type { Kysely, Selectable } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { BilledTable } from './billing-fact.ts';

/** Per list. */
const RECORDS_MAX = 1_000;

export async function readHistory(db: Kysely<Database>, organizationId: string): Promise<BillingHistory> {
  return {
    invoices: (await newest(db, 'billing_invoices', organizationId)).map((row) => ({
      id: row.id,
      number: row.number,
      status: row.status,
      currency: row.currency,
      total: row.total,
      amount_due: row.amount_due,
      amount_paid: row.amount_paid,
      amount_remaining: row.amount_remaining,
      subscription_id: row.subscription_id,
      period_start: row.period_start.toISOString(),
      period_end: row.period_end.toISOString(),
      due_at: row.due_at?.toISOString() ?? null,
      paid_at: row.paid_at?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
      hosted_invoice_url: row.hosted_invoice_url,
      invoice_pdf_url: row.invoice_pdf_url,
    })),
    payments: (await newest(db, 'billing_payments', organizationId)).map((row) => ({
      id: row.id,
      status: row.status,
      currency: row.currency,
      amount: row.amount,
      amount_received: row.amount_received,
      failure_code: row.failure_code,
      created_at: row.created_at.toISOString(),
    })),
    refunds: (await newest(db, 'billing_refunds', organizationId)).map((row) => ({
      id: row.id,
      payment_id: row.payment_id,
      status: row.status,
      currency: row.currency,
      amount: row.amount,
      reason: row.reason,
      created_at: row.created_at.toISOString(),
    })),
    disputes: (await newest(db, 'billing_disputes', organizationId)).map((row) => ({
      id: row.id,
      payment_id: row.payment_id,
      status: row.status,
      currency: row.currency,
      amount: row.amount,
      reason: row.reason,
      evidence_due_at: row.evidence_due_at?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
    })),
    activities: (await newest(db, 'billing_activities', organizationId)).map((row) => ({
      id: row.id,
      type: row.type,
      subscription_id: row.subscription_id,
      status: row.status,
      plan: row.plan,
      created_at: row.created_at.toISOString(),
    })),
  };
}

/** The history of an organization without charges. */
export const noHistory: BillingHistory = {
  invoices: [],
  payments: [],
  refunds: [],
  disputes: [],
  activities: [],
};

async function newest<T extends BilledTable | 'billing_activities'>(
  db: Kysely<Database>,
  table: T,
  organizationId: string,
): Promise<Selectable<Database[T]>[]> {
  // Kysely does not support a table name that is a type parameter; all these tables have the columns used here.
  const rows = await db
    .selectFrom(table as 'billing_activities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(RECORDS_MAX)
    .execute();
  return rows as unknown as Selectable<Database[T]>[];
}
