import { type Caller, idOf, itemsOf, textAt } from './answer.ts';
import * as fields from './fields/routing.ts';
import { listOf, nothing } from './shape.ts';
import type { World } from './world.ts';

const laneSettings = { default_max_wait_ms: 5_000, allow_fallback: true, enabled: true };

/** The rows of section 4.2 about providers, lanes and memberships, and the resources that they stand on. */
export async function walkRouting(world: World, caller: Caller): Promise<void> {
  const { walk } = world;
  const providerId = await walkProviders(world, caller);
  const endpointId = await walkEndpoints(world, caller, providerId);
  await walkPrices(world, caller, endpointId);
  await walkLanes(world, caller, endpointId);
  await walk.expect(caller, `POST /api/relay/endpoints/${endpointId}/test`, '200', fields.endpointTest);
  await walk.expect(caller, `DELETE /api/relay/endpoints/${endpointId}`, '204', nothing);
  await walk.expect(caller, `DELETE /api/relay/providers/${providerId}`, '204', nothing);
}

async function walkProviders({ walk, deployment }: World, caller: Caller): Promise<string> {
  const providers = '/api/relay/providers';
  await walk.expect(caller, 'GET /api/relay/provider-presets', '200', listOf(fields.providerPreset));
  const body = {
    name: 'Open Provider',
    base_url: deployment.provider.baseUrl,
    auth_mode: 'bearer_static',
    enabled: true,
  };
  const made = await walk.expect(caller, `POST ${providers}`, '201', fields.provider, { body });
  for (const [key, value] of Object.entries(body))
    if ((made.body as Record<string, unknown>)[key] !== value)
      walk.fault(`POST ${providers}: ${key} is another`);
  const id = idOf(made);
  const listed = await walk.expect(caller, `GET ${providers}`, '200', listOf(fields.provider));
  if (!itemsOf(listed).some((item) => item['id'] === id)) walk.fault(`GET ${providers}: one is missing`);
  await walk.expect(caller, `GET ${providers}/${id}`, '200', fields.provider);
  const change = {
    body: { name: 'Renamed Provider', auth_mode: 'header_static', auth_header_name: 'x-key' },
  };
  const changed = await walk.expect(caller, `PUT ${providers}/${id}`, '200', fields.provider, change);
  if (textAt(changed, 'slug') !== textAt(made, 'slug')) walk.fault(`PUT ${providers}: the slug has changed`);
  const back = { body: { auth_mode: 'bearer_static', auth_header_name: null } };
  await walk.expect(caller, `PUT ${providers}/${id}`, '200', fields.provider, back);

  const credentials = '/api/relay/credentials';
  const secret = walk.secrets.plant('the credential of a provider');
  const stored = { body: { provider_id: id, name: 'primary', secret } };
  const first = await walk.expect(caller, `POST ${credentials}`, '201', fields.credential, stored);
  await walk.expect(caller, `GET ${credentials}`, '200', listOf(fields.credential));
  const next = { body: { secret: walk.secrets.plant('the credential that replaced it') } };
  await walk.expect(caller, `PUT ${credentials}/${idOf(first)}`, '200', fields.credential, next);
  const spare = {
    body: { provider_id: id, name: 'spare', secret: walk.secrets.plant('a spare credential') },
  };
  const second = await walk.expect(caller, `POST ${credentials}`, '201', fields.credential, spare);
  await walk.expect(caller, `DELETE ${credentials}/${idOf(second)}`, '204', nothing);

  const tested = await walk.expect(caller, `POST ${providers}/${id}/test`, '200', fields.providerTest);
  if (!tested.text.includes('"ok":true')) walk.fault(`POST ${providers}/{id}/test: ${tested.text}`);
  return id;
}

async function walkEndpoints({ walk }: World, caller: Caller, providerId: string): Promise<string> {
  const endpoints = '/api/relay/endpoints';
  const body = { provider_id: providerId, name: 'Large', upstream_model: 'sim-multi', route_kind: 'multi' };
  const made = await walk.expect(caller, `POST ${endpoints}`, '201', fields.endpoint, { body });
  await walk.expect(caller, `GET ${endpoints}`, '200', listOf(fields.endpoint));
  await walk.expect(caller, `GET ${endpoints}/${idOf(made)}`, '200', fields.endpoint);
  const change = { body: { max_concurrency: 3, context_window: 128_000 } };
  await walk.expect(caller, `PUT ${endpoints}/${idOf(made)}`, '200', fields.endpoint, change);
  return idOf(made);
}

async function walkPrices(world: World, caller: Caller, endpointId: string): Promise<void> {
  const { walk } = world;
  const prices = '/api/relay/pricing-policies';
  const body = {
    endpoint_id: endpointId,
    input_cost_micros_per_1m_tokens: 150_000,
    output_cost_micros_per_1m_tokens: 600_000,
  };
  const made = await walk.expect(caller, `POST ${prices}`, '201', fields.pricingPolicy, { body });
  await walk.expect(caller, `GET ${prices}`, '200', listOf(fields.pricingPolicy));
  const change = { body: { flat_request_cost_micros: 10 } };
  await walk.expect(caller, `PUT ${prices}/${idOf(made)}`, '200', fields.pricingPolicy, change);
  await walkPriceLists(world, caller);
  await walk.expect(caller, `DELETE ${prices}/${idOf(made)}`, '204', nothing);
}

async function walkPriceLists({ walk, deployment }: World, caller: Caller): Promise<void> {
  const entry = {
    provider: 'simulated',
    preset_slug: null,
    host: new URL(deployment.provider.baseUrl).host,
    model: 'sim-multi',
    input_cost_micros_per_1m_tokens: 160_000,
    output_cost_micros_per_1m_tokens: 640_000,
  };
  const list = { source: 'litellm', entries: [entry] };
  const plan = 'POST /api/relay/prices/plan';
  const planned = await walk.expect(caller, plan, '200', fields.pricePlan, { body: list });
  const approved = { body: { ...list, plan_hash: textAt(planned, 'plan_hash') } };
  await walk.expect(caller, 'POST /api/relay/prices/apply', '200', fields.priceApplied, approved);
  const [provider] = itemsOf(await walk.send(caller, 'GET /api/relay/providers'));
  const facts = `GET /api/relay/prices/model?provider_id=${String(provider?.['id'])}&upstream_model=gpt-4o`;
  await walk.expect(caller, facts, '200', fields.modelFacts);
}

async function walkLanes({ walk }: World, caller: Caller, endpointId: string): Promise<void> {
  const lanes = '/api/relay/routing-lanes';
  await walk.expect(caller, `GET ${lanes}`, '200', listOf(fields.lane));
  const body = { name: 'Walked Lane', ...laneSettings };
  const lane = await walk.expect(caller, `POST ${lanes}`, '201', fields.laneDetail, { body });
  const slower = { body: { name: 'Walked Lane', ...laneSettings, default_max_wait_ms: 9_000 } };
  const changed = await walk.expect(caller, `PUT ${lanes}/${idOf(lane)}`, '200', fields.laneDetail, slower);
  if (!changed.text.includes('"default_max_wait_ms":9000')) walk.fault(`PUT ${lanes}: the wait stays`);

  const memberships = '/api/relay/lane-memberships';
  await walk.expect(caller, `GET ${memberships}`, '200', listOf(fields.membership));
  const joined = { body: { lane_id: idOf(lane), endpoint_id: endpointId, manual_rank: 1, enabled: true } };
  const made = await walk.expect(caller, `POST ${memberships}`, '201', fields.membership, joined);

  await walk.expect(caller, `GET ${memberships}/${idOf(made)}`, '200', fields.membership);
  const whole = await walk.expect(caller, `GET ${lanes}/${idOf(lane)}`, '200', fields.laneDetail);
  if (!whole.text.includes(idOf(made))) walk.fault(`GET ${lanes}: the member is missing: ${whole.text}`);

  const asked = { model: textAt(lane, 'slug'), messages: [{ role: 'user', content: 'Say hello.' }] };
  const explain = { body: { operation: 'chat', body: asked } };
  const line = 'POST /api/relay/routing/explain';
  const explained = await walk.expect(caller, line, '200', fields.explanation, explain);
  if (textAt(explained, 'selected_endpoint_id') !== endpointId)
    walk.fault(`${line}: another endpoint is chosen: ${explained.text}`);

  const edited_lane = { ...(whole.body as object), default_max_wait_ms: 4_321 };
  const edited = { body: { ...explain.body, edited_lane } };
  const tried = await walk.expect(caller, line, '200', fields.explanation, edited);
  if (!tried.text.includes('"wait_budget_ms":4321'))
    walk.fault(`${line}: the edit is not explained: ${tried.text}`);

  const ranked = { body: { manual_rank: 2, enabled: false } };
  const member = `${memberships}/${idOf(made)}`;
  await walk.expect(caller, `PUT ${member}`, '200', fields.membership, ranked);
  await walk.expect(caller, `DELETE ${member}`, '204', nothing);
  await walk.expect(caller, `DELETE ${lanes}/${idOf(lane)}`, '204', nothing);
  const after = itemsOf(await walk.expect(caller, `GET ${lanes}`, '200', listOf(fields.lane)));
  if (after.some((item) => item['id'] === idOf(lane))) walk.fault(`GET ${lanes}: a deleted one is listed`);
}
