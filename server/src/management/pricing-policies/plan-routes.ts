import type { PriceListEntry, PricePlanRequest } from '@relay/contract';
import type { Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField, isId, notFound } from '../resources/refusals.ts';
import { ownedRows, storedTable } from '../resources/rows.ts';
import { type RecordedChange, recorded, writeConfiguration } from '../resources/write-configuration.ts';
import type { Prices } from './compare-prices.ts';
import { type PlannedPrice, planPrices } from './plan-prices.ts';
import { findCatalogPrice, findContextWindow } from './price-catalog.ts';
import { pricingPolicy } from './queries.ts';
import { demandPrices, toColumns } from './wire.ts';

/** Prices of public lists: what they would change, and the changes that were approved. */
export function pricePlanHandlers(deps: ManagementDeps): Handlers {
  return {
    async planPrices({ caller, body }) {
      demandList(body);
      const { organizationId } = caller;
      return (await planPrices(deps, deps.ofOrganization(organizationId), organizationId, body)).plan;
    },
    async applyPrices(call) {
      const { body } = call;
      const { organizationId } = call.caller;
      demandList(body);
      const accepted = new Set(body.accept ?? []);
      return writeConfiguration(deps, call, 'alone', async (tx) => {
        const { plan, rows } = await planPrices(deps, tx, organizationId, body);
        if (plan.plan_hash !== body.plan_hash) throw outdated();
        const wanted = rows.filter(isWritable);
        const held = wanted.filter(({ row }) => row.held_back !== null && !accepted.has(row.endpoint_id));
        const applied = wanted.filter((each) => !held.includes(each));
        const changes: RecordedChange[] = [];
        for (const each of applied) changes.push(...(await write(deps, tx, each, plan)));
        const idsOf = (some: readonly WritablePrice[]) => some.map(({ endpoint }) => endpoint.id);
        return { result: { applied: idsOf(applied), held_back: idsOf(held) }, changes };
      });
    },
    async getModelFacts({ caller, query }) {
      const { organizationId } = caller;
      const providers = ownedRows(storedTable('providers'));
      const provider = isId(query.provider_id)
        ? await providers.find(deps.ofOrganization(organizationId), organizationId, query.provider_id)
        : undefined;
      if (provider === undefined) throw notFound('provider');
      const atMs = deps.clock.nowMs();
      const asked = { baseUrl: provider.base_url, model: query.upstream_model, atMs };
      const price = await findCatalogPrice(asked);
      return {
        context_window: await findContextWindow(asked),
        input_cost_micros_per_1m_tokens: price?.input_cost_micros_per_1m_tokens ?? null,
        output_cost_micros_per_1m_tokens: price?.output_cost_micros_per_1m_tokens ?? null,
      };
    },
  };
}

function demandList({ source, entries }: PricePlanRequest): void {
  if (source === 'catalog' && entries !== undefined)
    throw invalidField('entries', 'Relay’s price list has its own entries. Omit "entries".');
  for (const entry of entries ?? []) demandPrices(pricesIn(entry));
}

function pricesIn(entry: PriceListEntry) {
  const { provider: _provider, preset_slug: _preset, host: _host, model: _model, ...rest } = entry;
  const { context_window: _window, output_tokens_max: _most, capabilities: _capabilities, ...prices } = rest;
  return prices;
}

function outdated(): RelayError {
  return new RelayError('version_conflict', {
    param: 'plan_hash',
    message: 'Prices, endpoints or the list have changed since this plan. Create a new plan and review it.',
  });
}

type WritablePrice = PlannedPrice & { readonly after: Prices };

function isWritable(planned: PlannedPrice): planned is WritablePrice {
  return planned.after !== null && !planned.row.managed_by_file;
}

/** Sets the prices of one endpoint. Scheduled prices that are still to begin stay; a missing context window is filled in. */
async function write(
  deps: ManagementDeps,
  tx: Transaction<Database>,
  { row, endpoint, policy, after }: WritablePrice,
  { source, as_of }: { readonly source: PricePlanRequest['source']; readonly as_of: string },
): Promise<RecordedChange[]> {
  const { organization_id } = endpoint;
  const rows = ownedRows(pricingPolicy.table);
  const nowMs = deps.clock.nowMs();
  const scheduled = (policy?.scheduled ?? []).filter(({ valid_from }) => Date.parse(valid_from) > nowMs);
  const columns = {
    ...toColumns({ ...after, scheduled }),
    source,
    as_of: source === 'catalog' ? null : new Date(as_of),
  };
  const written =
    policy === undefined
      ? await rows.insert(tx, organization_id, { ...columns, id: deps.newId(), endpoint_id: endpoint.id })
      : await rows.update(tx, organization_id, policy.id, columns);
  const changes = [recorded(pricingPolicy, policy ?? null, written ?? null)];
  if (endpoint.context_window !== null || row.context_window === null || endpoint.managed_by === 'file')
    return changes;
  const table = storedTable('endpoints');
  const patch = { context_window: row.context_window };
  const filled = await ownedRows(table).update(tx, organization_id, endpoint.id, patch);
  return [...changes, recorded({ noun: 'endpoint', table }, endpoint, filled ?? null)];
}
