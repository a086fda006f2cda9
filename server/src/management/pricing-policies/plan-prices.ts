import { createHash } from 'node:crypto';
import type { PriceListEntry, PricePlan, PricePlanRequest, PricePlanRow } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { ownedRows, type Row, storedTable } from '../resources/rows.ts';
import { begunPrices } from './begun-prices.ts';
import { catalogColumnsAt } from './catalog-columns.ts';
import { changesBetween, moveBetween, type Prices, pricesAfter } from './compare-prices.ts';
import { entryFinder } from './match-list.ts';
import { findContextWindow } from './price-catalog.ts';
import { pricesOf } from './wire.ts';

/** A row of the plan, and what an apply writes. */
export interface PlannedPrice {
  readonly row: PricePlanRow;
  readonly endpoint: Row<'endpoints'>;
  readonly policy: Row<'pricing_policies'> | undefined;
  /** Null where there is nothing to write. */
  readonly after: Prices | null;
}

export interface PlannedPrices {
  readonly plan: PricePlan;
  readonly rows: readonly PlannedPrice[];
}

type PlanDeps = Pick<ManagementDeps, 'clock'>;

/** Compares the list with the prices of every endpoint. */
export async function planPrices(
  deps: PlanDeps,
  db: Kysely<Database>,
  organizationId: string,
  request: PricePlanRequest,
): Promise<PlannedPrices> {
  const providers = await ownedRows(storedTable('providers')).list(db, organizationId, {});
  const endpoints = await ownedRows(storedTable('endpoints')).list(db, organizationId, {});
  const policies = await ownedRows(storedTable('pricing_policies')).list(db, organizationId, {});
  const policyOf = new Map(policies.map((policy) => [policy.endpoint_id, policy]));
  const providerOf = new Map(providers.map((provider) => [provider.id, provider]));
  const find = entryFinder(request.entries ?? []);
  const rows: PlannedPrice[] = [];
  for (const endpoint of endpoints) {
    const provider = providerOf.get(endpoint.provider_id);
    if (provider === undefined) continue;
    const found =
      request.source === 'catalog'
        ? await catalogEntries(deps, provider, endpoint)
        : find(provider, endpoint.upstream_model);
    const policy = policyOf.get(endpoint.id);
    rows.push(planned({ request, provider, endpoint, policy, found, nowMs: deps.clock.nowMs() }));
  }
  const as_of = request.as_of ?? new Date(deps.clock.nowMs()).toISOString();
  const shown = rows.map(({ row }) => row);
  return { plan: { source: request.source, as_of, plan_hash: hashOf(shown), rows: shown }, rows };
}

interface Compared {
  readonly request: PricePlanRequest;
  readonly provider: Row<'providers'>;
  readonly endpoint: Row<'endpoints'>;
  readonly policy: Row<'pricing_policies'> | undefined;
  readonly found: readonly PriceListEntry[];
  readonly nowMs: number;
}

function planned({ request, provider, endpoint, policy, found, nowMs }: Compared): PlannedPrice {
  const before = policy === undefined ? null : inForce(policy, nowMs);
  const [entry] = found;
  const after = entry === undefined || found.length > 1 ? null : pricesAfter(entry, before);
  const changes = after === null ? [] : changesBetween(before, after);
  const { factor, heldBack } = after === null ? { factor: null, heldBack: null } : moveBetween(before, after);
  const action = actionOf(found, request, policy, changes.length > 0);
  const isWritten = action === 'add' || action === 'change';
  return {
    endpoint,
    policy,
    after: isWritten ? after : null,
    row: {
      endpoint_id: endpoint.id,
      endpoint_name: endpoint.name,
      provider_name: provider.name,
      upstream_model: endpoint.upstream_model,
      action,
      held_back: isWritten ? heldBack : null,
      factor,
      managed_by_file: isManaged(request, endpoint, policy),
      current_source: policy?.source ?? null,
      current_as_of: policy === undefined ? null : (policy.as_of ?? policy.updated_at).toISOString(),
      listed_as: found.map((each) => `${each.provider}/${each.model}`),
      changes,
      context_window: entry?.context_window ?? null,
      output_tokens_max: entry?.output_tokens_max ?? null,
      capabilities: entry?.capabilities ?? [],
    },
  };
}

/** An endpoint that the file manages follows Relay's price list alone, unless the file names its price. */
function isManaged(
  { source }: PricePlanRequest,
  endpoint: Row<'endpoints'>,
  policy: Row<'pricing_policies'> | undefined,
): boolean {
  if (policy?.managed_by === 'file') return true;
  const staysDefault = source === 'catalog' && (policy === undefined || policy.source === 'catalog');
  return endpoint.managed_by === 'file' && !staysDefault;
}

function actionOf(
  found: readonly PriceListEntry[],
  { source }: PricePlanRequest,
  policy: Row<'pricing_policies'> | undefined,
  isChanged: boolean,
): PricePlanRow['action'] {
  if (found.length > 1) return 'ambiguous';
  if (found.length === 0) return policy?.source === source ? 'removed' : 'unlisted';
  if (policy === undefined) return 'add';
  return isChanged ? 'change' : 'same';
}

function inForce(policy: Row<'pricing_policies'>, nowMs: number): Prices {
  const { scheduled, ...prices } = pricesOf(policy);
  return { ...prices, ...begunPrices(scheduled, nowMs) } as Prices;
}

async function catalogEntries(
  deps: PlanDeps,
  provider: Row<'providers'>,
  endpoint: Row<'endpoints'>,
): Promise<PriceListEntry[]> {
  const columns = await catalogColumnsAt(deps, provider.base_url, endpoint);
  if (columns === null) return [];
  const { scheduled: _scheduled, source: _source, as_of: _date, ...prices } = columns;
  const asked = { baseUrl: provider.base_url, model: endpoint.upstream_model, atMs: deps.clock.nowMs() };
  return [
    {
      ...prices,
      provider: provider.name,
      preset_slug: provider.preset_slug,
      host: null,
      model: endpoint.upstream_model,
      context_window: await findContextWindow(asked),
    },
  ];
}

/** Of what would be written, so that an apply does what was approved. */
function hashOf(rows: readonly PricePlanRow[]): string {
  const said = rows.map(({ endpoint_id, action, held_back, changes }) => [
    endpoint_id,
    action,
    held_back,
    changes,
  ]);
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}
