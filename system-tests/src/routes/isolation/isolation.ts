import { allScopes, type Route, type RouteId, routes } from '@relay/contract';
import type { Accounts } from '../../harness/accounts.ts';
import type { Sample } from '../../harness/examples.ts';
import { MODEL } from '../../harness/objects.ts';
import { bearer } from '../../harness/relay-fetch.ts';
import { newSuffix } from '../access/columns.ts';
import { furnish, leakIn, type MatrixSetup } from '../access/matrix.ts';
import { type Answer, send } from '../access/send.ts';
import type { Upstream } from '../access/upstream.ts';
import {
  ownLists,
  type Pair,
  type Side,
  theirCursors,
  theirIds,
  theirIdsInBodies,
  theirIdsInFilters,
} from './isolation-probes.ts';

export interface IsolationSetup extends Pair {
  readonly url: string;
  readonly accounts: Accounts;
  readonly ownerOf: ReadonlyMap<string, string>;
  /** Neither the queries nor the database keep the organizations apart, so that responses may be anything. */
  readonly isBroken?: boolean;
}

/**
 * Two organizations, each with one of everything under the same names, and a key that may do everything; or an
 * existing one and another.
 */
export async function startPair(
  setup: Pick<MatrixSetup, 'accounts' | 'ownerOf' | 'upstreamOf'>,
  existing?: string,
): Promise<Pair> {
  const side = async (given?: string): Promise<Side> => {
    const { accounts } = setup;
    const organizationId = given ?? (await accounts.addOrganization({ plan: 'enterprise' }));
    const callerId = await accounts.addMember(organizationId, { role: 'owner' });
    const { key, id } = await accounts.addKey({ organizationId, userId: callerId, scopes: allScopes });
    setup.ownerOf.set(id, organizationId);
    const objects = await furnish(setup, {
      organizationId,
      callerId,
      suffix: given === undefined ? '' : newSuffix(),
    });
    return { objects, headers: bearer(key) };
  };
  return { ours: await side(existing), theirs: await side() };
}

/** For every table that has it, as an administrator would. */
export async function switchRowSecurity(accounts: Accounts, verb: 'enable' | 'disable'): Promise<void> {
  const before = verb === 'disable';
  const tables = await accounts.query(
    `select distinct c.relname as name from pg_class c join pg_policy p on p.polrelid = c.oid where relrowsecurity = $1`,
    [before],
  );
  for (const { name } of tables)
    await accounts.query(`alter table ${String(name)} ${verb} row level security`);
}

/** Both organizations use the same names, which must resolve to the caller's own objects. */
export async function findMixUps(
  { url, ownerOf }: MatrixSetup,
  upstream: Upstream,
  { ours, theirs }: Pair,
): Promise<string[]> {
  const found: string[] = [];
  const messages = [{ role: 'user', content: 'x' }];
  const call = (side: Side, route: RouteId, sample: Sample, headers: Record<string, string> = {}) =>
    send(url, routes[route], sample, { ...side.headers, ...headers });
  const only = await call(theirs, 'createLane', { body: { name: 'Only theirs' } });
  const rank = {
    lane_id: (only.body as { id: string }).id,
    endpoint_id: theirs.objects.endpointId,
    manual_rank: 1,
  };
  await call(theirs, 'createMembership', { body: rank });

  const asked = upstream.asked.length;
  for (const model of [ours.objects.laneSlug, MODEL, `kept/${MODEL}`]) {
    const { summary } = await call(ours, 'createChatCompletion', { body: { model, messages } });
    if (summary !== '200') found.push(`${model} is ${summary}`);
  }
  const wrongly = upstream.asked.slice(asked).filter((id) => id !== ours.objects.organizationId);
  if (wrongly.length > 0 || upstream.asked.length !== asked + 3) found.push(`sent to ${wrongly.join()}`);

  const { summary: other } = await call(ours, 'createChatCompletion', {
    body: { model: 'only-theirs', messages },
  });
  if (other !== '400 model_not_found') found.push(`their lane by name is ${other}`);
  const models = await call(ours, 'listModels', {});
  if (models.text.includes('only-theirs')) found.push('their lane is listed');
  const { text } = await call(theirs, 'listModels', {});
  if (!text.includes('only-theirs')) found.push('their lane is not listed to them');
  const retrieved = { path: ['only-theirs'] };
  const [toUs, toThem] = [await call(ours, 'getModel', retrieved), await call(theirs, 'getModel', retrieved)];
  if (toUs.summary !== '404 not_found') found.push(`their lane as a model is ${toUs.summary}`);
  if (toThem.summary !== '200') found.push(`their lane as a model is ${toThem.summary} to them`);

  const repeat = { 'idempotency-key': 'the same on both sides' };
  const made = [
    await call(theirs, 'createLane', { body: { name: 'Twice' } }, repeat),
    await call(ours, 'createLane', { body: { name: 'Twice' } }, repeat),
  ].map(({ body, summary }) => ({ summary, ...(body as { id: string; slug: string }) }));
  if (made[0]?.id === made[1]?.id) found.push('an idempotency key of theirs was answered to us');
  for (const { summary, slug } of made)
    if (`${summary} ${slug}` !== '201 twice') found.push(`${slug} is ${summary}`);
  const leaked = leakIn(ownerOf, models, ours.objects);
  return leaked === undefined ? found : [...found, `models show ${leaked}`];
}

const listed = [
  ...['listMembers', 'listInvitations', 'listOrgApiKeys', 'listAuditLog', 'listProviders', 'listCredentials'],
  ...['listPricingPolicies', 'listEndpoints', 'listLanes', 'listMemberships', 'listUserLimitPolicies'],
  ...['listApiKeyLimitPolicies', 'listGuardrails', 'listTeams', 'listAlertDestinations'],
];
const named = [
  ...['updateMember', 'removeMember', 'deleteInvitation', 'getProvider', 'updateProvider', 'deleteProvider'],
  ...['updateCredential', 'deleteCredential', 'updatePricingPolicy', 'deletePricingPolicy', 'getEndpoint'],
  ...['getLane', 'getMembership'],
  ...['updateEndpoint', 'deleteEndpoint', 'updateLane', 'deleteLane', 'updateMembership', 'deleteMembership'],
  ...[
    'deleteApiKeyLimitPolicy',
    'getRequest',
    'getRequestLimits',
    'getGuardrail',
    'updateGuardrail',
    'deleteGuardrail',
  ],
  ...['listGuardrailBindings', 'testGuardrail', 'getGuardrailStats', 'getTeam', 'updateTeam', 'deleteTeam'],
  ...['getAlertDestination', 'updateAlertDestination', 'deleteAlertDestination'],
];

/** Prefixes of the leaks that appear once neither queries nor the database isolate organizations. Cursors still belong to theirs. */
export const leaksOnceForgotten: readonly string[] = [
  ...listed.map((route) => `${route} with own shows`),
  ...named.map((route) => `${route} with their id is 20`),
  ...['listRequests', 'exportRequests'].map((route) => `${route} with own shows`),
  'rows of lanes changed',
];

/** Reads and changes across organizations; empty when isolation holds. */
export async function findLeaks(setup: IsolationSetup): Promise<{ probes: number; leaks: string[] }> {
  const before = await stateOf(setup.accounts, setup.theirs.objects.organizationId);
  const probes = [...ownLists(), ...theirIds(setup), ...theirIdsInBodies(setup), ...theirIdsInFilters(setup)];
  probes.push(...(await theirCursors(setup.url, setup)));
  const leaks: string[] = [];
  for (const { route, what, sample } of probes) {
    const answer = await send(setup.url, routes[route], sample, setup.ours.headers, setup.isBroken);
    const leaked = leakIn(setup.ownerOf, answer, { ...setup.ours.objects, sent: sample });
    if (leaked !== undefined) leaks.push(`${route} with ${what} shows ${leaked}`);
    if (what !== 'own' && wasTaken(routes[route], answer))
      leaks.push(`${route} with ${what} is ${answer.summary}`);
  }
  const after = await stateOf(setup.accounts, setup.theirs.objects.organizationId);
  for (const [table, rows] of before) if (after.get(table) !== rows) leaks.push(`rows of ${table} changed`);
  return { probes: probes.length, leaks };
}

/** A write that names an object of theirs has to be refused; a read of a list may answer with what is ours. */
function wasTaken(route: Route, { status }: Answer): boolean {
  const isList = route.method === 'GET' && route.params === undefined;
  return !isList && status < 400;
}

/** A digest of all rows of the organization in each table. A server writes the times of uses seconds later, so they are left out. */
async function stateOf(accounts: Accounts, organizationId: string): Promise<Map<string, unknown>> {
  const tables = await accounts.query(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
     where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace`,
  );
  const state = new Map<string, unknown>();
  for (const { name } of tables) {
    const rows = await accounts.query(
      `select md5(string_agg(row, ',' order by row)) as digest
       from (select (to_jsonb(t) - 'first_used_at' - 'last_used_at')::text as row from ${String(name)} as t where organization_id = $1) as rows`,
      [organizationId],
    );
    state.set(String(name), rows[0]?.['digest']);
  }
  return state;
}
