import { type Api, dataOf } from '../api/client.ts';
import type { Source } from './find-sources.ts';

type Management = Api['management'];

export const DEFAULT_LANE = 'default';

export interface SetUpSource {
  readonly name: string;
  /** The upstream models of its endpoints. */
  readonly models: readonly string[];
  /** Why it was left out; null when it was not. */
  readonly problem: string | null;
}

interface Member {
  readonly id: string;
  readonly isNew: boolean;
}

/**
 * Creates a provider with endpoints for each source, and a lane with all of them. What exists is kept, so that a second
 * call changes nothing and an interrupted one can be repeated.
 */
export async function setUpSources(api: Management, sources: readonly Source[]): Promise<SetUpSource[]> {
  const done: SetUpSource[] = [];
  const members: Member[] = [];
  for (const source of sources) {
    const { name, models, problem, endpoints } = await setUpSource(api, source);
    done.push({ name, models, problem });
    members.push(...endpoints);
  }
  if (members.length > 0) await addToLane(api, members);
  return done;
}

async function setUpSource(
  api: Management,
  source: Source,
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
      models: known.map((each) => each.upstream_model),
      endpoints: known.map(({ id }) => ({ id, isNew: false })),
    };
  }
  const params = { path: { provider_id: provider.id } };
  const tested = await dataOf(api.POST('/api/relay/providers/{provider_id}/test', { params }));
  const models = source.choose(tested.model_ids ?? []);
  if (!tested.ok || models.length === 0) {
    if (provider.isNew) await removeProvider(api, provider.id);
    return { name, models: [], endpoints: [], problem: tested.ok ? 'It has no chat model.' : tested.message };
  }
  const endpoints: Member[] = [];
  for (const model of models) {
    const protocol = tested.protocol ?? 'openai';
    const body = {
      provider_id: provider.id,
      name: model,
      upstream_model: model,
      route_kind: 'multi',
      protocol,
    } as const;
    const { id } = await dataOf(api.POST('/api/relay/endpoints', { body }));
    endpoints.push({ id, isNew: true });
  }
  return { name, models, endpoints, problem: null };
}

/** A provider with this address is the source, whatever it is called. */
async function providerOf(
  api: Management,
  { name, slug, baseUrl, secret }: Source,
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
async function addToLane(api: Management, endpoints: readonly Member[]): Promise<void> {
  const lanes = await dataOf(api.GET('/api/relay/routing-lanes'));
  const found = lanes.find(({ slug }) => slug === DEFAULT_LANE);
  const body = { name: DEFAULT_LANE, allow_fallback: true };
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
