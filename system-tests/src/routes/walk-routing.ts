import { type Caller, idOf, textAt } from './answer.ts';
import type { World } from './world.ts';

/** Some clients send a content type without a body. */
const EMPTY = { headers: { 'content-type': 'application/json' } };
const laneSettings = { default_max_wait_ms: 5_000, allow_fallback: true, enabled: true };

/** A provider that can be tested and renamed, prices from a list, and a lane whose routing is explained. */
export async function walkRouting(world: World, caller: Caller): Promise<void> {
  const { walk } = world;
  const providerId = await walkProvider(world, caller);
  const body = { provider_id: providerId, name: 'Large', upstream_model: 'sim-multi', route_kind: 'multi' };
  const endpointId = idOf(await walk.expect(caller, 'POST /api/relay/endpoints', '201', { body }));
  // Health changes by itself, so that what was read may be stale.
  const stale = { health: 'down', cooldown_until: '2020-01-01T00:00:00.000Z', pacing: false };
  await walk.expect(caller, `PUT /api/relay/endpoints/${endpointId}`, '200', { body: stale });
  await walkPriceLists(world, caller);
  await walkLane(world, caller, endpointId);
  await walk.expect(caller, `DELETE /api/relay/endpoints/${endpointId}`, '204');
  await walk.expect(caller, `DELETE /api/relay/providers/${providerId}`, '204', EMPTY);
}

async function walkProvider({ walk, deployment }: World, caller: Caller): Promise<string> {
  const providers = '/api/relay/providers';
  const { baseUrl } = deployment.provider;
  const body = { name: 'Open Provider', base_url: baseUrl, auth_mode: 'bearer_static', enabled: true };
  const made = await walk.expect(caller, `POST ${providers}`, '201', { body });
  const one = `${providers}/${idOf(made)}`;
  const changed = await walk.expect(caller, `PUT ${one}`, '200', { body: { name: 'Renamed Provider' } });
  if (textAt(changed, 'slug') !== textAt(made, 'slug')) walk.fault(`PUT ${providers}: the slug has changed`);

  const secret = () => walk.secrets.plant('the credential of a provider');
  const credential = { body: { provider_id: idOf(made), name: 'primary', secret: secret() } };
  const stored = await walk.expect(caller, 'POST /api/relay/credentials', '201', credential);
  const next = { body: { secret: secret() } };
  await walk.expect(caller, `PUT /api/relay/credentials/${idOf(stored)}`, '200', next);
  const tested = await walk.expect(caller, `POST ${one}/test`, '200', EMPTY);
  if (!tested.text.includes('"ok":true')) walk.fault(`POST ${providers}/{id}/test: ${tested.text}`);
  return idOf(made);
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
  const planned = await walk.expect(caller, 'POST /api/relay/prices/plan', '200', { body: list });
  const approved = { body: { ...list, plan_hash: textAt(planned, 'plan_hash') } };
  await walk.expect(caller, 'POST /api/relay/prices/apply', '200', approved);
}

async function walkLane({ walk }: World, caller: Caller, endpointId: string): Promise<void> {
  const lanes = '/api/relay/routing-lanes';
  const lane = await walk.expect(caller, `POST ${lanes}`, '201', {
    body: { name: 'Walked Lane', ...laneSettings },
  });
  const joined = { body: { lane_id: idOf(lane), endpoint_id: endpointId, manual_rank: 1, enabled: true } };
  const member = idOf(await walk.expect(caller, 'POST /api/relay/lane-memberships', '201', joined));
  const whole = await walk.expect(caller, `GET ${lanes}/${idOf(lane)}`, '200');
  if (!whole.text.includes(member)) walk.fault(`GET ${lanes}: the member is missing: ${whole.text}`);

  const asked = { model: textAt(lane, 'slug'), messages: [{ role: 'user', content: 'Say hello.' }] };
  const explain = { operation: 'chat', body: asked };
  const line = 'POST /api/relay/routing/explain';
  const explained = await walk.expect(caller, line, '200', { body: explain });
  if (textAt(explained, 'selected_endpoint_id') !== endpointId)
    walk.fault(`${line}: another endpoint is chosen: ${explained.text}`);
  const edited_lane = { ...(whole.body as object), default_max_wait_ms: 4_321 };
  const tried = await walk.expect(caller, line, '200', { body: { ...explain, edited_lane } });
  if (!tried.text.includes('"wait_budget_ms":4321'))
    walk.fault(`${line}: the edit is not explained: ${tried.text}`);

  await walk.expect(caller, `DELETE /api/relay/lane-memberships/${member}`, '204');
  await walk.expect(caller, `DELETE ${lanes}/${idOf(lane)}`, '204', EMPTY);
}
