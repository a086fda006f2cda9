import { isDeepStrictEqual } from 'node:util';
import { catalogColumnsAt, type PricedEndpoint } from '../pricing-policies/catalog-columns.ts';
import { pricingPolicy } from '../pricing-policies/queries.ts';
import { pricingPolicySection } from '../pricing-policies/section.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import type { Entry } from '../resources/section.ts';
import { storedSection } from '../resources/stored-section.ts';
import type { Configuration, StoredItem } from './configuration.ts';
import {
  type Change,
  type FieldChange,
  fieldsOf,
  type Orphan,
  type Plan,
  type PlanInput,
} from './make-plan.ts';

const pricingSection = storedSection(pricingPolicy, pricingPolicySection);

type PriceDeps = Pick<ManagementDeps, 'clock'>;
type Items = Pick<PlanInput, 'stored'> & Partial<Pick<PlanInput, 'file'>>;

/**
 * Adds default prices to the plan, as the endpoint routes do: a new endpoint gets the catalog's price, which
 * follows its model. The file does not manage default prices; a price in the file takes precedence.
 */
export async function withDefaultPrices(deps: PriceDeps, input: PlanInput, plan: Plan): Promise<Plan> {
  const gone = new Set<string>();
  const followed = new Set<string>();
  const more: Change[] = [];
  const kept: Change[] = [];
  for (const change of plan.changes) {
    if (change.section.name !== 'endpoints') continue;
    if (change.action === 'delete') gone.add(change.key);
    const price = await priceChange(deps, input, plan, change);
    if (price === null) continue;
    more.push(price);
    followed.add(price.key);
  }
  for (const change of plan.changes) {
    const isPrice = isPriceOf(change) && change.action === 'delete';
    if (isPrice && (followed.has(change.key) || (await isCurrent(deps, input, change.key)))) continue;
    // Removing a price from the file returns the endpoint to the catalog's price.
    const fallen = isPrice && !gone.has(change.key) ? await backToCatalog(deps, input, plan, change) : null;
    kept.push(fallen ?? change);
  }
  const orphaned: Orphan[] = [];
  for (const left of plan.orphaned) {
    const isFollowed =
      isPriceOf(left) && (followed.has(left.key) || (await isCurrent(deps, input, left.key)));
    if (!isFollowed) orphaned.push(left);
  }
  return { ...plan, changes: [...kept, ...more], orphaned };
}

function isPriceOf({ section }: Pick<Change, 'section'>): boolean {
  return section.name === 'pricing_policies';
}

/** Whether the stored price is the default of its endpoint today. The file does not name such prices. */
async function isCurrent(deps: PriceDeps, { stored }: Items, key: string): Promise<boolean> {
  const item = stored.get('pricing_policies')?.get(key);
  return (
    item !== undefined && isDefault(item) && samePrice(item.entry, await catalogEntry(deps, { stored }, key))
  );
}

/** Removes prices that equal the catalog's default: an export leaves out defaults. */
export async function withoutDefaultPrices(
  deps: PriceDeps,
  configuration: Configuration,
): Promise<Configuration> {
  const said = new Map<string, StoredItem>();
  for (const [key, item] of configuration.get('pricing_policies') ?? []) {
    if (!(await isCurrent(deps, { stored: configuration }, key))) said.set(key, item);
  }
  return new Map([...configuration, ['pricing_policies', said]]);
}

async function priceChange(
  deps: PriceDeps,
  input: PlanInput,
  plan: Plan,
  change: Change,
): Promise<Change | null> {
  const { action, key } = change;
  if (input.file.get('pricing_policies')?.has(key) === true) return null;
  const stored = input.stored.get('pricing_policies')?.get(key) ?? null;
  if (action === 'delete') return stored !== null && isDefault(stored) ? deleted(stored) : null;
  const moved = change.fields.some(({ field }) => field === 'upstream_model' || field === 'provider');
  if (action === 'release' || !moved) return null;
  const entry = await catalogEntry(deps, input, key);
  if (stored !== null) {
    if (!isDefault(stored)) return null;
    return entry === null ? deleted(stored) : updated(plan, stored, entry);
  }
  if (entry === null) return null;
  // The catalog has a price for the model, but the endpoint has none: it was removed.
  const isTakenAway =
    action === 'update' && (await catalogEntry(deps, { stored: input.stored }, key)) !== null;
  return isTakenAway ? null : created(input, plan, entry);
}

async function backToCatalog(
  deps: PriceDeps,
  input: PlanInput,
  plan: Plan,
  change: Change,
): Promise<Change | null> {
  const entry = await catalogEntry(deps, input, change.key);
  if (entry === null || change.stored === null) return null;
  const { fields, ...rest } = updated(plan, change.stored, entry);
  if (!change.stored.owned) return { ...rest, fields };
  const owner: FieldChange = { field: 'managed_by', before: 'file', after: null };
  return { ...rest, fields: [...fields, owner], columns: { ...rest.columns, managed_by: null } };
}

/** The catalog's price for an endpoint, using the endpoint in the file or else the stored one. */
async function catalogEntry(deps: PriceDeps, { file, stored }: Items, key: string): Promise<Entry | null> {
  const find = (section: 'endpoints' | 'providers', name: string) =>
    (file?.get(section)?.get(name) ?? stored.get(section)?.get(name))?.entry;
  const endpoint = find('endpoints', key);
  const provider = find('providers', String(endpoint?.['provider']));
  if (endpoint === undefined || provider === undefined) return null;
  const priced = endpoint as unknown as Pick<PricedEndpoint, 'upstream_model' | 'route_kind'>;
  const columns = await catalogColumnsAt(deps, String(provider['base_url']), priced);
  return columns === null ? null : { endpoint: key, currency: 'USD', ...columns };
}

function created({ newId }: PlanInput, { ids }: Plan, entry: Entry): Change {
  const section = pricingSection;
  const fields = fieldsOf(section, entry, (value) => ({ before: null, after: value }));
  const shared = { section, key: section.keyOf(entry), id: newId(), stored: null, item: null };
  return { ...shared, action: 'create', fields, columns: section.columnsOf(entry, ids) };
}

function updated({ ids }: Plan, stored: StoredItem, entry: Entry): Change {
  const section = pricingSection;
  const fields = section.fields.flatMap((field): FieldChange[] => {
    const [before, after] = [stored.entry[field] ?? null, entry[field] ?? null];
    return isDeepStrictEqual(before, after) ? [] : [{ field, before, after }];
  });
  const { key, row } = stored;
  const columns = section.columnsOf(entry, ids);
  return { action: 'update', section, key, id: row.id, fields, stored, item: null, columns };
}

function deleted(stored: StoredItem): Change {
  const section = pricingSection;
  const fields = fieldsOf(section, stored.entry, (value) => ({ before: value, after: null }));
  const { key, row } = stored;
  return { action: 'delete', section, key, id: row.id, fields, stored, item: null, columns: {} };
}

function isDefault({ owned, entry }: StoredItem): boolean {
  return !owned && entry['source'] === 'catalog';
}

function samePrice(one: Entry, other: Entry | null): boolean {
  if (other === null) return false;
  return pricingSection.fields.every((field) => isDeepStrictEqual(one[field], other[field]));
}
