import type { GuardrailBehaviourName } from '@relay/provider-sim';
import { type AdminClient, createLane, type EndpointSetup, type LaneIds } from '../harness/admin-client.ts';
import { until } from '../harness/until.ts';
import { itemsOf, textAt } from './exchange.ts';
import { expectStatus } from './expectation.ts';
import type { Walked } from './walked.ts';

/** Micro-USD for a million tokens. */
export const PRICES = {
  input_cost_micros_per_1m_tokens: 1_000_000,
  output_cost_micros_per_1m_tokens: 4_000_000,
};
export const MODEL = 'sim-multi';
/** Upstream models of an enabled endpoint and of one that is switched off. */
export const LISTED = 'listed-model';
export const UNLISTED = 'unlisted-model';
const CONFIGURED_MS_MAX = 10_000;

/** A lane for each situation; its name is what requests call as `model`. */
const laneNames = [
  'plain',
  'falls back',
  'stays',
  'throttled',
  'throttled too',
  'narrow',
  'narrow without patience',
  'guarded',
  'guard fails',
  'guard blocks',
  'unprepared',
  'unreachable',
  'switched off',
  'first endpoint off',
  'first membership off',
  'first provider off',
  'whole answers only',
  'breaks',
  'limited',
  'first at its limit',
] as const;
export type LaneName = (typeof laneNames)[number];
export type Lanes = Readonly<Record<LaneName, LaneIds>>;

export async function addLanes(site: Walked): Promise<Lanes> {
  const admin = creatorFor(site);
  const good: EndpointSetup = { baseUrl: site.provider.baseUrl, upstreamModel: MODEL };
  const dead: EndpointSetup = { baseUrl: 'http://127.0.0.1:1/v1', upstreamModel: MODEL };
  const withEndpoint = (more: object): EndpointSetup => ({ ...good, endpoint: { ...more } });
  const add = (name: LaneName, endpoints: readonly EndpointSetup[], lane: Record<string, unknown> = {}) =>
    createLane(admin, { name, endpoints, lane });
  const narrow = withEndpoint({ max_concurrency: 1 });
  const lanes: Lanes = {
    plain: await add('plain', [good]),
    'falls back': await add('falls back', [dead, good]),
    stays: await add('stays', [dead, good], { allow_fallback: false }),
    throttled: await add('throttled', [good], { default_max_wait_ms: 0 }),
    'throttled too': await add('throttled too', [good], { default_max_wait_ms: 0 }),
    narrow: await add('narrow', [narrow]),
    'narrow without patience': await add('narrow without patience', [narrow], { default_max_wait_ms: 0 }),
    guarded: await add('guarded', [good]),
    'guard fails': await add('guard fails', [good]),
    'guard blocks': await add('guard blocks', [good]),
    unprepared: await add('unprepared', [good]),
    unreachable: await add('unreachable', [dead]),
    'switched off': await add('switched off', [good], { enabled: false }),
    'first endpoint off': await add('first endpoint off', [withEndpoint({ enabled: false }), good]),
    'first membership off': await add('first membership off', [good, good]),
    'first provider off': await add('first provider off', [good, good]),
    'whole answers only': await add('whole answers only', [withEndpoint({ supports_streaming: false })]),
    breaks: await add('breaks', [good, good]),
    'first at its limit': await add('first at its limit', [good, good]),
    limited: await add('limited', [good], { default_max_wait_ms: 0 }),
  };
  await site.call('POST', '/api/relay/pricing-policies', {
    body: { endpoint_id: lanes.plain.endpointIds[0], ...PRICES },
  });
  await bind(site, lanes.guarded, 'allow');
  await bind(site, lanes['guard fails'], 'status-500');
  await bind(site, lanes['guard blocks'], 'block');
  await removeCredential(site, lanes.unprepared);
  await switchOffFirsts(site, lanes);
  await addListedModels(site, lanes);
  return lanes;
}

/** Takes any answer with an id, so that a wrong status fails its statement and not the whole walk. */
function creatorFor(site: Walked): AdminClient {
  return {
    call: (method, path, body) => site.call(method, path, { body }),
    async create(path, body) {
      const answer = await site.call('POST', path, { body });
      if (textAt(answer, 'id') === '')
        throw new Error(`${answer.line} answered ${answer.status}: ${answer.text}`);
      return answer.body as Record<string, unknown> & { id: string };
    },
  };
}

async function bind(site: Walked, { laneId }: LaneIds, behaviour: GuardrailBehaviourName): Promise<void> {
  const body = {
    name: `Guards ${behaviour}`,
    preset_slug: 'custom-http',
    base_url: site.guardrails.urlOf(behaviour),
    http_method: 'POST',
    auth_mode: 'none',
    pre_dispatch_enabled: true,
  };
  const made = await site.call('POST', '/api/relay/guardrails', { body });
  expectStatus(made, 201);
  const path = `/api/relay/guardrails/${textAt(made, 'id')}`;
  expectStatus(await site.call('PUT', path, { body: { enabled: true } }), 200);
  const bindings = [{ target_type: 'lane', target_id: laneId }];
  expectStatus(await site.call('PUT', `${path}/bindings`, { body: { bindings } }), 200);
}

async function removeCredential(site: Walked, { providerIds }: LaneIds): Promise<void> {
  const credentials = itemsOf((await site.call('GET', '/api/relay/credentials')).body);
  const its = credentials.find((each) => each['provider_id'] === providerIds[0]);
  expectStatus(await site.call('DELETE', `/api/relay/credentials/${String(its?.['id'])}`), 204);
}

async function switchOffFirsts(site: Walked, lanes: Lanes): Promise<void> {
  const memberships = itemsOf((await site.call('GET', '/api/relay/lane-memberships')).body);
  const { laneId, endpointIds } = lanes['first membership off'];
  const first = memberships.find(
    (each) => each['lane_id'] === laneId && each['endpoint_id'] === endpointIds[0],
  );
  const path = `/api/relay/lane-memberships/${String(first?.['id'])}`;
  expectStatus(await site.call('PUT', path, { body: { manual_rank: 1, enabled: false } }), 200);
  const providerPath = `/api/relay/providers/${lanes['first provider off'].providerIds[0]}`;
  expectStatus(await site.call('PUT', providerPath, { body: { enabled: false } }), 200);
}

/** The last change before the walk: once inference lists the model, it knows everything else too. */
async function addListedModels(site: Walked, lanes: Lanes): Promise<void> {
  for (const [upstream_model, enabled] of [
    [UNLISTED, false],
    [LISTED, true],
  ] as const) {
    const body = {
      provider_id: lanes.plain.providerIds[0],
      name: upstream_model,
      upstream_model,
      route_kind: 'multi',
      enabled,
    };
    expectStatus(await site.call('POST', '/api/relay/endpoints', { body }), 201);
  }
  const known = await until(
    async () => (await site.call('GET', '/v1/models')).text.includes(`"${LISTED}"`),
    CONFIGURED_MS_MAX,
  );
  if (!known) throw new Error('inference does not list the model that was configured last');
}
