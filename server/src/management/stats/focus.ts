import { type CsvValue, csvRecord } from '@relay/contract/client';
import type { Kysely } from 'kysely';
import { exactUsd } from '../../domain/money/money.ts';
import { BUCKET_MS, type BucketRange } from '../../store/ledger/rollups/bucket.ts';
import { type FocusRow, readFocus } from '../../store/ledger/rollups/read-showback.ts';
import type { Database } from '../../store/postgres/schema.ts';

interface Organization {
  readonly id: string;
  readonly name: string;
}

interface Charge {
  readonly row: FocusRow;
  readonly organization: Organization;
  readonly bucketMs: number;
}

/** Columns of FOCUS 1.2 (FinOps Open Cost and Usage Specification). Those that start with `x_` are Relay's own. */
const COLUMNS: Readonly<Record<string, (charge: Charge) => CsvValue>> = {
  BilledCost: costOf,
  BillingAccountId: ({ organization }) => organization.id,
  BillingAccountName: ({ organization }) => organization.name,
  BillingAccountType: () => 'Organization',
  BillingCurrency: () => 'USD',
  BillingPeriodStart: ({ row }) => time(monthOf(row.bucket_start, 0)),
  BillingPeriodEnd: ({ row }) => time(monthOf(row.bucket_start, 1)),
  ChargeCategory: () => 'Usage',
  ChargeClass: () => null,
  ChargeDescription: ({ row }) => `Tokens of ${row.upstream_model ?? 'requests that reached no model'}`,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodStart: ({ row }) => time(row.bucket_start),
  ChargePeriodEnd: ({ row, bucketMs }) => time(new Date(row.bucket_start.getTime() + bucketMs)),
  ConsumedQuantity: tokensOf,
  ConsumedUnit: () => 'Tokens',
  ContractedCost: costOf,
  EffectiveCost: costOf,
  InvoiceIssuerName: providerOf,
  ListCost: costOf,
  PricingQuantity: tokensOf,
  PricingUnit: () => 'Tokens',
  ProviderName: providerOf,
  PublisherName: providerOf,
  ResourceId: ({ row }) => row.endpoint_id,
  ResourceName: ({ row }) => row.endpoint_name,
  ResourceType: ({ row }) => (row.endpoint_id === null ? null : 'Model endpoint'),
  ServiceCategory: () => 'AI and Machine Learning',
  ServiceName: ({ row }) => row.upstream_model ?? 'Model inference',
  ServiceSubcategory: () => 'Generative AI',
  SubAccountId: ({ row }) => row.team_id,
  SubAccountName: ({ row }) => row.team_name ?? row.team_id,
  SubAccountType: ({ row }) => (row.team_id === null ? null : 'Team'),
  Tags: ({ row }) => row.labels,
  x_ParentTeamId: ({ row }) => row.parent_team_id,
  x_UserId: ({ row }) => row.user_id,
  x_KeyId: ({ row }) => row.key_id,
  x_KeyName: ({ row }) => row.key_name,
  x_Requests: ({ row }) => row.requests,
  x_InputTokens: ({ row }) => row.input_tokens,
  x_CachedInputTokens: ({ row }) => row.cached_input_tokens,
  x_OutputTokens: ({ row }) => row.output_tokens,
  x_UnpricedRequests: ({ row }) => row.unpriced_requests,
};

/** One line for each day, team, set of labels, key and endpoint. Read day by day, so memory is bounded however long the range is. */
export async function* focusCsv(
  db: Kysely<Database>,
  organizationId: string,
  { bucket, fromMs, toMs }: BucketRange,
): AsyncGenerator<string> {
  const bucketMs = BUCKET_MS[bucket];
  const { name } = await db
    .selectFrom('organizations')
    .select('name')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const organization = { id: organizationId, name };
  // The header is sent with the first rows: if they cannot be read, the client gets an error instead of an empty file.
  let head = csvRecord(Object.keys(COLUMNS));
  for (let startMs = fromMs; startMs < toMs; startMs += BUCKET_MS.day) {
    const range = { bucket, fromMs: startMs, toMs: Math.min(toMs, startMs + BUCKET_MS.day) };
    const rows = await readFocus(db, organizationId, range);
    const text = head + rows.map((row) => lineOf({ row, organization, bucketMs })).join('');
    head = '';
    if (text !== '') yield text;
  }
}

function lineOf(charge: Charge): string {
  return csvRecord(Object.values(COLUMNS).map((cellOf) => cellOf(charge)));
}

/** FOCUS allows no null: `x_UnpricedRequests` tells how many requests the cost leaves out. */
function costOf({ row }: Charge): string {
  return exactUsd(BigInt(row.cost_picos));
}

/** FOCUS requires a name, also on lines of requests that reached no provider. */
function providerOf({ row }: Charge): string {
  return row.provider_name ?? row.provider_id ?? 'Relay';
}

function tokensOf({ row }: Charge): number {
  return row.input_tokens + row.output_tokens;
}

function monthOf(date: Date, offset: number): Date {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset));
}

/** FOCUS times have no fraction of a second. */
function time(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
