import { allRoutes, type RouteId } from '@relay/contract';
import { type Answer, type Caller, itemsOf } from './answer.ts';
import type { Walk } from './walk.ts';
import { reading } from './walk-reads.ts';
import type { World } from './world.ts';

interface Entry {
  readonly action: string;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly target_id: string | null;
  readonly before: object | null;
  readonly after: object | null;
  readonly request_id: string | null;
}

type Verb = 'create' | 'update' | 'delete' | 'event';

/** The action and the kind of entry that each write leaves in the audit log. */
const entries: Partial<Record<RouteId, readonly [action: string, verb: Verb]>> = {
  updateAccount: ['account.update', 'update'],
  updatePreferences: ['account.update', 'update'],
  createApiKey: ['api_key.create', 'create'],
  renameApiKey: ['api_key.rename', 'update'],
  revokeApiKey: ['api_key.revoke', 'update'],
  createOrgApiKey: ['api_key.create', 'create'],
  updateOrgApiKey: ['api_key.update', 'update'],
  createTeam: ['team.create', 'create'],
  updateTeam: ['team.update', 'update'],
  deleteTeam: ['team.delete', 'delete'],
  deleteTeamLimitPolicy: ['team_limit_policy.delete', 'delete'],
  revokeOrgApiKey: ['api_key.revoke', 'update'],
  updateOrg: ['organization.update', 'update'],
  updateMember: ['member.update', 'update'],
  removeMember: ['member.delete', 'delete'],
  leaveOrganization: ['member.delete', 'delete'],
  createInvitation: ['invitation.create', 'create'],
  deleteInvitation: ['invitation.delete', 'delete'],
  createProvider: ['provider.create', 'create'],
  updateProvider: ['provider.update', 'update'],
  deleteProvider: ['provider.delete', 'delete'],
  createCredential: ['credential.create', 'create'],
  updateCredential: ['credential.update', 'update'],
  deleteCredential: ['credential.delete', 'delete'],
  createPricingPolicy: ['pricing_policy.create', 'create'],
  updatePricingPolicy: ['pricing_policy.update', 'update'],
  deletePricingPolicy: ['pricing_policy.delete', 'delete'],
  createEndpoint: ['endpoint.create', 'create'],
  updateEndpoint: ['endpoint.update', 'update'],
  deleteEndpoint: ['endpoint.delete', 'delete'],
  createLane: ['lane.create', 'create'],
  updateLane: ['lane.update', 'update'],
  deleteLane: ['lane.delete', 'delete'],
  createMembership: ['lane_membership.create', 'create'],
  updateMembership: ['lane_membership.update', 'update'],
  deleteMembership: ['lane_membership.delete', 'delete'],
  createGuardrail: ['guardrail.create', 'create'],
  updateGuardrail: ['guardrail.update', 'update'],
  deleteGuardrail: ['guardrail.delete', 'delete'],
  replaceGuardrailBindings: ['guardrail.update', 'update'],
  createLimitPolicy: ['limit_policy.create', 'create'],
  updateLimitPolicy: ['limit_policy.update', 'update'],
  deleteLimitPolicy: ['limit_policy.delete', 'delete'],
  createAlertDestination: ['alert_destination.create', 'create'],
  updateAlertDestination: ['alert_destination.update', 'update'],
  deleteAlertDestination: ['alert_destination.delete', 'delete'],
  deleteUserLimitPolicy: ['user_limit_policy.delete', 'delete'],
  deleteApiKeyLimitPolicy: ['api_key_limit_policy.delete', 'delete'],
  createSession: ['session.create', 'event'],
  updateSession: ['session.update', 'event'],
  deleteSession: ['session.delete', 'event'],
  revokeSession: ['session.delete', 'event'],
  changePassword: ['user.change_password', 'event'],
  changeEmail: ['user.change_email', 'update'],
  startTotp: ['user.start_totp', 'event'],
  confirmTotp: ['user.confirm_totp', 'event'],
  removeTotp: ['user.remove_totp', 'event'],
};

/** Writes that leave entries of more than one kind, or one that depends on the body. */
const several: readonly RouteId[] = [
  'applyConfig',
  'applyPrices',
  'receiveStripeEvent',
  'signUp',
  'requestSignUp',
  'acceptInvitation',
  'requestPasswordReset',
  'confirmPasswordReset',
  'upsertUserLimitPolicy',
  'upsertApiKeyLimitPolicy',
  'upsertTeamLimitPolicy',
];

/** The writes of the contract that the table above does not cover. */
export function writesMissed(): string[] {
  return allRoutes
    .filter(({ plane, method }) => plane === 'management' && method !== 'GET')
    .filter(({ id }) => !reading.includes(id) && !several.includes(id) && entries[id] === undefined)
    .map(({ id }) => id);
}

/** Every write of the walk has left its entry, and there is no entry without a write. */
export async function compareTrail(
  { walk, preparations }: Pick<World, 'walk' | 'preparations'>,
  reader: Caller,
): Promise<number> {
  const writes = walk.answers.filter(
    (answer) => isWrite(answer) && organizationOf(answer) === reader.organizationId,
  );
  const byRequest = Map.groupBy(await readLog(walk, reader), (entry) => entry.request_id);
  for (const write of writes) {
    const found = byRequest.get(write.requestId) ?? [];
    byRequest.delete(write.requestId);
    if (found.length === 0 && keptVersion(walk, write)) continue;
    for (const text of faultsOf(write, found)) walk.fault(`${write.line}: ${text}`);
  }
  for (const [requestId, left] of byRequest) {
    if (preparations.has(requestId ?? '')) continue;
    const cause = walk.answers.find((answer) => answer.requestId === requestId);
    walk.fault(
      `${left[0]?.action} is in the log, and came from ${cause?.line ?? 'nowhere'} ${cause?.summary}`,
    );
  }
  return writes.length;
}

/** Whether the version is that of the answer before: the write changed nothing. */
function keptVersion({ answers }: Walk, write: Answer): boolean {
  const of = ({ line }: Answer) => line.split(' ')[1];
  const earlier = answers.slice(0, answers.indexOf(write)).filter((each) => of(each) === of(write));
  const etag = write.headers.get('etag');
  return (
    etag !== null && earlier.findLast(({ headers }) => headers.has('etag'))?.headers.get('etag') === etag
  );
}

function isWrite({ line, status, route, headers }: Answer): boolean {
  if (line.startsWith('GET') || status >= 400 || route === null || reading.includes(route)) return false;
  return !headers.has('idempotency-replayed');
}

/** The organization of the entry: opening a session acts in the session's organization. */
function organizationOf({ body, caller }: Answer): string {
  const { org } = (body ?? {}) as { org?: { id?: string } };
  return org?.id ?? caller.organizationId;
}

function faultsOf({ route, caller, status }: Answer, found: readonly Entry[]): string[] {
  if (found[0] === undefined || route === null) return ['it left no entry in the audit log'];
  const entry = found.find((each) => each.action === entries[route]?.[0]) ?? found[0];
  const faults: string[] = [];
  const { actor } = entry;
  if (caller.actor !== null && (actor.type !== caller.actor.type || actor.id !== caller.actor.id))
    faults.push(`the log says it was ${JSON.stringify(actor)}`);
  const [action, verb] = entries[route] ?? [entry.action, 'event'];
  // A deletion also has an entry of everything that goes along.
  const others = found.filter((each) => each !== entry);
  const isTaken =
    verb === 'delete' && others.every((each) => each.action.endsWith('.delete') && each.after === null);
  if (others.length > 0 && !isTaken && !several.includes(route))
    faults.push(`it left ${found.length} entries`);
  if (entry.action !== action) faults.push(`the log calls it ${entry.action}, not ${action}`);
  if (entry.target_id === null) faults.push('the log does not say to what it was done');
  const hasBefore = verb === 'update' || verb === 'delete';
  const hasAfter = verb === 'update' || verb === 'create';
  if (verb !== 'event' && ((entry.before !== null) !== hasBefore || (entry.after !== null) !== hasAfter))
    faults.push(`of a ${verb} (${status}) the log tells ${JSON.stringify([entry.before, entry.after])}`);
  return faults;
}

async function readLog(walk: Walk, reader: Caller): Promise<Entry[]> {
  const found: Entry[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const line = `GET /api/relay/audit-log?limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page: Answer = await walk.expect(reader, line, '200');
    found.push(...(itemsOf(page) as unknown as Entry[]));
    cursor = (page.body as { next_cursor?: string | null }).next_cursor ?? null;
  }
  return found;
}
