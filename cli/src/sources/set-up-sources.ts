import type { components } from '@relay/contract/api-types';
import { dollarWords } from '@relay/contract/words';
import { type Api, dataOf } from '../api/client.ts';
import type { Source } from './find-sources.ts';

type Management = Api['management'];
type Price = components['schemas']['PricingPolicy'];

/** A lane is created under this name, and found by this slug. */
export const DEFAULT_LANE = 'default';

export interface SetUpSource {
  readonly name: string;
  readonly models: readonly SetUpModel[];
  /** Why it was left out; null when it was not. */
  readonly problem: string | null;
}

/** The upstream model of an endpoint, with its price if the catalogue has one. */
export interface SetUpModel {
  readonly id: string;
  readonly price: Price | null;
}

type NewSource = Omit<Source, 'seen'>;

export interface Member {
  readonly id: string;
  readonly isNew: boolean;
}

/** gpt-4o-mini ($0.15 input, $0.60 output / 1M tokens) */
export function modelWords({ id, price }: SetUpModel): string {
  if (price === null) return `${id} (no price)`;
  const { input_cost_micros_per_1m_tokens: input, output_cost_micros_per_1m_tokens: output } = price;
  return `${id} (${dollarWords(input)} input, ${dollarWords(output)} output / 1M tokens)`;
}

/**
 * Creates a provider with endpoints for each source, and a lane with all of them. What exists is kept, so that a second
 * call changes nothing and an interrupted one can be repeated.
 */
export async function setUpSources(
  api: Management,
  sources: readonly NewSource[],
  lane = DEFAULT_LANE,
): Promise<SetUpSource[]> {
  const done: SetUpSource[] = [];
  const members: Member[] = [];
  for (const source of sources) {
    const { name, models, problem, endpoints } = await setUpSource(api, source);
    done.push({ name, models, problem });
    members.push(...endpoints);
  }
  if (members.length > 0) await addToLane(api, members, lane);
  return done;
}

async function setUpSource(
  api: Management,
  source: NewSource,
): Promise<SetUpSource & { readonly endpoints: readonly Member[] }> {
  const { name } = source;
  const provider = await providerOf(api, source);
  const all = await dataOf(api.GET('/api/relay/endpoints'));
  const known = all.filter((each) => each.provider_id === provider.id);
  // Endpoints that a person has chosen are not added to.
  if (known.length > 0) {
    return {
      name,
      problem: null,
      models: await withPrices(api, known),
      endpoints: known.map(({ id }) => ({ id, isNew: false })),
    };
  }
  const params = { path: { provider_id: provider.id } };
  const tested = await dataOf(api.POST('/api/relay/providers/{provider_id}/test', { params }));
  const models = source.choose(tested.model_ids ?? []);
  if (!tested.ok || models.length === 0) {
    if (provider.isNew) await removeProvider(api, provider.id);
    const problem = tested.ok ? 'It lists no chat model.' : tested.message;
    return { name, models: [], endpoints: [], problem };
  }
  const created = await createEndpoints(api, provider.id, models, tested.protocol ?? 'openai');
  return {
    name,
    models: await withPrices(api, created),
    endpoints: created.map(({ id }) => ({ id, isNew: true })),
    problem: null,
  };
}

type Endpoint = components['schemas']['Endpoint'];

/** An endpoint for each model; Relay gives it the catalogue's price. */
export async function createEndpoints(
  api: Management,
  providerId: string,
  models: readonly string[],
  protocol: Endpoint['protocol'],
): Promise<Endpoint[]> {
  const created: Endpoint[] = [];
  for (const model of models) {
    const body = { provider_id: providerId, name: model, upstream_model: model, protocol };
    created.push(await dataOf(api.POST('/api/relay/endpoints', { body: { ...body, route_kind: 'multi' } })));
  }
  return created;
}

export async function withPrices(api: Management, endpoints: readonly Endpoint[]): Promise<SetUpModel[]> {
  const prices = await dataOf(api.GET('/api/relay/pricing-policies'));
  return endpoints.map(({ id, upstream_model }) => ({
    id: upstream_model,
    price: prices.find(({ endpoint_id }) => endpoint_id === id) ?? null,
  }));
}

/** A provider with this address is the source, whatever it is called. */
async function providerOf(
  api: Management,
  { name, slug, baseUrl, secret }: NewSource,
): Promise<{ id: string; isNew: boolean }> {
  const known = (await dataOf(api.GET('/api/relay/providers'))).find((each) => each.base_url === baseUrl);
  const body = { name, base_url: baseUrl, preset_slug: slug };
  const provider = known ?? (await dataOf(api.POST('/api/relay/providers', { body })));
  if (secret !== null && !provider.has_credential) {
    const credential = { provider_id: provider.id, name: 'environment', secret };
    await dataOf(api.POST('/api/relay/credentials', { body: credential }));
  }
  return { id: provider.id, isNew: known === undefined };
}

async function removeProvider(api: Management, id: string): Promise<void> {
  const credentials = await dataOf(api.GET('/api/relay/credentials'));
  for (const credential of credentials.filter(({ provider_id }) => provider_id === id)) {
    await api.DELETE('/api/relay/credentials/{credential_id}', {
      params: { path: { credential_id: credential.id } },
    });
  }
  await api.DELETE('/api/relay/providers/{provider_id}', { params: { path: { provider_id: id } } });
}

/** A lane with members gets only new endpoints, after its own: what a person took out stays out. */
export async function addToLane(api: Management, endpoints: readonly Member[], lane: string): Promise<void> {
  const lanes = await dataOf(api.GET('/api/relay/routing-lanes'));
  const found = lanes.find(({ slug, name }) => slug === lane || name === lane);
  const body = { name: lane, allow_fallback: true };
  const { id } = found ?? (await dataOf(api.POST('/api/relay/routing-lanes', { body })));
  const all = await dataOf(api.GET('/api/relay/lane-memberships'));
  const members = all.filter(({ lane_id }) => lane_id === id);
  const last = Math.max(0, ...members.map(({ manual_rank }) => manual_rank));
  const wanted = endpoints.filter(({ isNew }) => isNew || members.length === 0);
  for (const [index, endpoint] of wanted.entries()) {
    const membership = { lane_id: id, endpoint_id: endpoint.id, manual_rank: last + index + 1 };
    await dataOf(api.POST('/api/relay/lane-memberships', { body: membership }));
  }
}
