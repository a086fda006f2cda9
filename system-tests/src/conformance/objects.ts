import { randomUUIDv7 } from 'node:crypto';
import { type Answer, itemsOf, textAt } from './exchange.ts';
import type { Site } from './site.ts';

/** An id that nothing has. */
export const NO_ID: string = randomUUIDv7();

/** The ids that paths and bodies of section 4.2 name. */
export interface Ids {
  readonly api_key_id: string;
  readonly group_id: string;
  readonly membership_id: string;
  readonly guardrail_id: string;
  readonly policy_id: string;
  readonly endpoint_id: string;
  readonly user_limit_uuid: string;
  readonly key_limit_uuid: string;
}

/** One of everything, made by the create routes of section 4.2, and what these answered. */
export interface Made {
  readonly ids: Ids;
  readonly answers: ReadonlyMap<string, Answer>;
}

/** `kept` is read and changed by the statements, `spare` is deleted by them. */
export type SetName = 'kept' | 'spare';

/** Large enough to delay no request. */
const LIMIT = 1_000_000_000;

/** Bodies of the create routes; `period` tells the budgets of the two sets apart, which may not be the same. */
export function createBodies(site: Site, set: SetName, ids: Partial<Ids>): Readonly<Record<string, object>> {
  const isKept = set === 'kept';
  return {
    'POST /api/account/api-keys': { name: `Workload ${set}`, scopes: ['relay:providers:manage'] },
    'POST /api/relay/providers': {
      name: `Upstream ${set}`,
      base_url: 'https://upstream.example.com/v1',
      auth_mode: 'bearer_static',
      enabled: isKept,
    },
    'POST /api/relay/routing-lanes': {
      name: `Group ${set}`,
      default_max_wait_ms: 1_234,
      allow_fallback: false,
      enabled: isKept,
    },
    'POST /api/relay/lane-memberships': {
      // A lane takes its memberships with it, so the spare one is not in the spare lane.
      lane_id: isKept ? ids.group_id : site.lanes['switched off'].laneId,
      endpoint_id: ids.endpoint_id,
      manual_rank: 3,
      enabled: isKept,
    },
    'POST /api/relay/guardrails': {
      name: `Guardrail ${set}`,
      preset_slug: 'custom-http',
      base_url: 'https://guardrail.example.com/check',
      http_method: 'POST',
      auth_mode: 'none',
      pre_dispatch_enabled: isKept,
    },
    'POST /api/relay/limit-policies': {
      scope_type: 'global',
      metric: 'requests',
      period: isKept ? 'minute' : 'day',
      limit_value: LIMIT,
      enabled: true,
    },
    'POST /api/relay/pro/user-limit-policies': {
      user_uuid: site.ownerId,
      target_type: 'global',
      metric: isKept ? 'tokens' : 'requests',
      period: 'day',
      limit_value: LIMIT,
      enabled: true,
    },
    'POST /api/relay/api-key-limit-policies': {
      api_key_uuid: ids.api_key_id,
      target_type: 'global',
      metric: isKept ? 'requests' : 'tokens',
      period: 'day',
      limit_value: LIMIT,
      enabled: true,
    },
  };
}

export function objects(site: Site, set: SetName): Promise<Made> {
  return site.once(`objects ${set}`, () => makeObjects(site, set));
}

async function makeObjects(site: Site, set: SetName): Promise<Made> {
  const answers = new Map<string, Answer>();
  const create = async (line: string, ids: Partial<Ids> = {}): Promise<Answer> => {
    const [method = '', path = ''] = line.split(' ');
    const answer = await site.call(method, path, { body: createBodies(site, set, ids)[line] });
    answers.set(line, answer);
    return answer;
  };
  const idOf = (answer: Answer, path = 'id') => textAt(answer, path) || NO_ID;
  const { hosted } = site.mode;
  await create('POST /api/relay/providers');
  const group_id = idOf(await create('POST /api/relay/routing-lanes'));
  const endpoint_id = site.lanes.plain.endpointIds[0] ?? NO_ID;
  const membership_id = idOf(await create('POST /api/relay/lane-memberships', { group_id, endpoint_id }));
  const guardrail_id = idOf(await create('POST /api/relay/guardrails'));
  const policy_id = hosted ? NO_ID : idOf(await create('POST /api/relay/limit-policies'));
  const api_key_id = idOf(await create('POST /api/account/api-keys'), 'key.id');
  await create('POST /api/relay/pro/user-limit-policies');
  await create('POST /api/relay/api-key-limit-policies', { api_key_id });
  const metric = set === 'kept' ? 'tokens' : 'requests';
  const ofOwner = { user_uuid: site.ownerId, metric };
  const user_limit_uuid = await budgetId(site, '/api/relay/pro/user-limit-policies', ofOwner);
  const ofKey = { api_key_uuid: api_key_id };
  const key_limit_uuid = await budgetId(site, '/api/relay/api-key-limit-policies', ofKey);
  const ids = {
    api_key_id,
    group_id,
    membership_id,
    guardrail_id,
    policy_id,
    endpoint_id,
    user_limit_uuid,
    key_limit_uuid,
  };
  return { ids, answers };
}

/** A create gives no id away; the list does. */
async function budgetId(site: Site, path: string, fields: Readonly<Record<string, string>>): Promise<string> {
  const { body } = await site.call('GET', path);
  const policies = itemsOf((body as { policies?: unknown }).policies);
  const found = policies.find((policy) =>
    Object.entries(fields).every(([name, value]) => policy[name] === value),
  );
  return String(found?.['limit_uuid'] ?? NO_ID);
}
