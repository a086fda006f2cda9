import { randomBytes } from 'node:crypto';
import { allRoutes } from '@relay/contract';
import type { Objects } from '../harness/objects.ts';
import { type Answer, type Caller, idOf, itemsOf, NO_ID, textAt } from './answer.ts';
import { routeOf } from './route-of.ts';
import type { Walk } from './walk.ts';
import { tokenOf } from './walk-organization.ts';
import type { World } from './world.ts';

/** One of everything that can be made, by its kind; an id that never was where the mode has none. */
export type Made = Readonly<Record<keyof typeof creates, string>>;

interface Create {
  readonly line: string;
  readonly usual: string;
  /** A repeat does not show the secret again. */
  readonly showsSecret: boolean;
  /** Where it is listed, when that is not the address it was made at. */
  readonly list?: string;
  readonly body: (made: Record<string, string>, world: World, set: string) => object;
}

const price = { input_cost_micros_per_1m_tokens: 1, output_cost_micros_per_1m_tokens: 2 };
const webhook = { kind: 'webhook', url: 'https://alerts.example.com/hook' };
const limit = { metric: 'requests', period: 'month', limit_value: 1_000_000, enabled: true };

/** In an order in which each stands on what was made before. */
const creates = {
  provider: create('POST /api/relay/providers', (_made, { deployment }, set) => ({
    name: `Provider ${set}`,
    base_url: deployment.provider.baseUrl,
    auth_mode: 'bearer_static',
    enabled: true,
  })),
  credential: create('POST /api/relay/credentials', ({ provider }, { walk }) => ({
    provider_id: provider,
    name: 'main',
    secret: walk.secrets.plant('the credential of a provider'),
  })),
  endpoint: create('POST /api/relay/endpoints', ({ provider }, _world, set) => ({
    provider_id: provider,
    name: `Endpoint ${set}`,
    upstream_model: 'sim-multi',
    route_kind: 'multi',
    max_concurrency: 5,
  })),
  pricingPolicy: create('POST /api/relay/pricing-policies', ({ endpoint }) => ({
    endpoint_id: endpoint,
    ...price,
  })),
  lane: create('POST /api/relay/routing-lanes', (_made, _world, set) => ({
    name: `Lane ${set}`,
    default_max_wait_ms: 100,
    allow_fallback: true,
    enabled: true,
  })),
  membership: create('POST /api/relay/lane-memberships', ({ lane, endpoint }) => ({
    lane_id: lane,
    endpoint_id: endpoint,
    manual_rank: 1,
    enabled: true,
  })),
  guardrail: create('POST /api/relay/guardrails', (_made, { walk }, set) => ({
    name: `Guardrail ${set}`,
    base_url: 'https://guard.example.com/check',
    auth_mode: 'bearer_static',
    secret: walk.secrets.plant('the credential of a guardrail'),
  })),
  limitPolicy: create('POST /api/relay/limit-policies', ({ provider }) => ({
    scope_type: 'provider',
    scope_id: provider,
    ...limit,
  })),
  key: create('POST /api/account/api-keys', (_made, _world, set) => ({
    name: `Key ${set}`,
    scopes: ['relay:request'],
  })),
  memberKey: create('POST /api/org/api-keys', (_made, { memberId }, set) => ({
    user_uuid: memberId,
    name: `Key of a member ${set}`,
    scopes: ['relay:request'],
  })),
  invitation: create('POST /api/org/invitations', (_made, _world, set) => ({
    email: `invited-${set}@example.com`,
    role: 'viewer',
  })),
  userPolicy: create('POST /api/relay/pro/user-limit-policies', ({ provider }, { memberId }) => ({
    user_uuid: memberId,
    target_type: 'provider',
    target_id: provider,
    ...limit,
  })),
  keyPolicy: create('POST /api/relay/api-key-limit-policies', ({ key }) => ({
    api_key_uuid: key,
    target_type: 'global',
    ...limit,
  })),
  team: create('POST /api/relay/teams', (_made, _world, set) => ({
    name: `Team ${set}`,
    kind: 'project',
  })),
  teamPolicy: create('POST /api/relay/team-limit-policies', ({ team }) => ({
    team_uuid: team,
    target_type: 'global',
    ...limit,
  })),
  alertDestination: create('POST /api/relay/alert-destinations', (_made, _world, set) => ({
    name: `Pager ${set}`,
    ...webhook,
  })),
  /** Its secret is the caller's own, so the answer shows none. */
  signedDestination: {
    ...create('POST /api/relay/alert-destinations', (_made, { walk }, set) => {
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      walk.secrets.know('the secret of an alert destination', secret);
      return { name: `Own ${set}`, ...webhook, secret };
    }),
    showsSecret: false,
  },
} as const;

function create(line: string, body: Create['body']): Create {
  const route = allRoutes.find(({ id }) => id === routeOf(line));
  const hidden = route?.errors.includes('secret_already_shown') === true;
  return { line, usual: String(route?.success.status), body, showsSecret: hidden };
}

/** The creates of the contract that this table has to have: a route that is missing here fails the suite. */
export function createsMissed(): string[] {
  const tried = Object.values<Create>(creates).map(({ line }) => routeOf(line));
  return allRoutes
    .filter(({ plane, method, tag }) => plane === 'management' && method === 'POST' && tag !== 'Session')
    .filter(({ id, success }) => success.status === 201 || id.startsWith('upsert'))
    .filter(({ id }) => !tried.includes(id))
    .map(({ id }) => id);
}

/**
 * Makes one of everything, each by a request that is sent twice under one `Idempotency-Key`: the answers are the same,
 * byte for byte, unless the first one showed a secret; and the list grows by one.
 */
export async function makeTwice(world: World, caller: Caller, set: string): Promise<Made> {
  const { walk } = world;
  const made: Record<string, string> = {};
  for (const [kind, entry] of Object.entries<Create>(creates)) {
    const body = entry.body(made, world, set);
    const before = await idsAt(walk, caller, entry);
    const sending = { body, headers: { 'idempotency-key': `${kind} ${set}` } };
    const first = await walk.expect(caller, entry.line, entry.usual, sending);
    knowShown(walk, first);
    const second = await walk.send(caller, entry.line, sending);
    const after = await idsAt(walk, caller, entry);
    made[kind] = [...after].find((id) => !before.has(id)) ?? NO_ID;
    if (first.status >= 400) {
      if (second.summary !== first.summary) walk.fault(`${entry.line} twice is ${second.summary}`);
      continue;
    }
    if (entry.showsSecret) compareHidden(walk, first, second);
    else compare(walk, first, second);
    if (after.size !== before.size + 1)
      walk.fault(`${entry.line} twice made ${after.size - before.size} objects`);
    const other = { ...sending, body: otherThan(body) };
    await walk.expect(caller, entry.line, '409 idempotency_conflict', other);
  }
  return made as Made;
}

/** What was made, as the examples name it. */
export function objectsOf(made: Made, laneSlug: string, requestId: string, memberId: string): Objects {
  const named: Partial<Objects> = {
    ...{ memberId, keyId: made.key, memberKeyId: made.memberKey, invitationId: made.invitation },
    ...{ providerId: made.provider, credentialId: made.credential, endpointId: made.endpoint },
    ...{ laneId: made.lane, laneSlug, membershipId: made.membership, guardrailId: made.guardrail },
    ...{ pricingPolicyId: made.pricingPolicy, limitPolicyId: made.limitPolicy, teamId: made.team },
    ...{ alertDestinationId: made.alertDestination, requestId },
  };
  // The examples of routes that only read name nothing else.
  return named as Objects;
}

/** Makes another one of everything. */
export async function makeOnce(world: World, caller: Caller, set: string): Promise<Made> {
  const { walk } = world;
  const made: Record<string, string> = {};
  for (const [kind, entry] of Object.entries<Create>(creates)) {
    const before = entry.usual === '200' ? await idsAt(walk, caller, entry) : null;
    const first = await walk.expect(caller, entry.line, entry.usual, { body: entry.body(made, world, set) });
    knowShown(walk, first);
    // The creation of a budget does not show its ID; the list does.
    const created = async () => [...(await idsAt(walk, caller, entry))].find((id) => !before?.has(id));
    made[kind] = before === null ? idOf(first) : ((await created()) ?? NO_ID);
  }
  return made as Made;
}

/** A good body that asks for something else. */
export function otherThan(body: object): object {
  const changes = {
    name: 'Another',
    email: 'another@example.com',
    limit_value: 5,
    manual_rank: 5,
    flat_request_cost_micros: 5,
    marketing_opt_in: false,
    labels: { app: 'another' },
    bindings: [],
    role: 'developer',
  };
  const [change = ['flat_request_cost_micros', 5]] = Object.entries(changes).filter(([key]) => key in body);
  return { ...body, [change[0] ?? '']: change[1] };
}

function compare(walk: Walk, first: Answer, second: Answer): void {
  if (second.status !== first.status || second.text !== first.text)
    walk.fault(`${first.line} twice is ${second.summary} ${second.text}`);
  if (first.headers.get('etag') !== second.headers.get('etag'))
    walk.fault(`${first.line} twice has another version`);
  if (second.headers.get('idempotency-replayed') !== 'true' || first.headers.has('idempotency-replayed'))
    walk.fault(`${first.line} twice does not say which answer is the repeat`);
}

/** The repeat says what the first one made, and leaves out the secret. */
function compareHidden(walk: Walk, first: Answer, second: Answer): void {
  if (second.summary !== '409 secret_already_shown') walk.fault(`${first.line} twice is ${second.summary}`);
  const again = ['key', 'invitation', 'created'].map((name) => textAt(second, 'error', name, 'id')).join('');
  const [shown, repeated] = [first.body, (second.body as { error: unknown }).error] as Record<
    string,
    unknown
  >[];
  for (const name of ['key', 'invitation'])
    if (JSON.stringify(shown?.[name]) !== JSON.stringify(repeated?.[name]))
      walk.fault(`${first.line} twice tells another ${name}`);
  if (idOf(first) !== again) walk.fault(`${first.line} twice does not name what the first one made`);
}

async function idsAt(walk: Walk, caller: Caller, { line, list }: Create): Promise<Set<string>> {
  const listed = await walk.send(caller, `GET ${list ?? line.split(' ')[1]}`);
  return new Set(itemsOf(listed).map(({ id }) => String(id)));
}

/** What a create shows once. */
function knowShown(walk: Walk, answer: Answer): void {
  walk.secrets.shownBy(answer, 'the secret of a key', textAt(answer, 'api_key'));
  walk.secrets.shownBy(answer, 'the secret of an alert destination', textAt(answer, 'secret'));
  walk.secrets.shownBy(answer, 'the token of an invitation', tokenOf(textAt(answer, 'accept_url')));
}
