import { headers, MemberUpdate } from '@relay/contract';
import type { Transaction } from 'kysely';
import { demandAccounts } from '../../domain/accounts.ts';
import type { Handlers } from '../../http/call.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { demandDelegation } from '../api-keys/grants.ts';
import { revokeKeys } from '../api-keys/queries.ts';
import { revocationEntry } from '../api-keys/revoke-key.ts';
import { activeStanding, type Standing } from '../api-keys/standing.ts';
import { actorOf } from '../resources/audited-row.ts';
import { type Dependent, recordedDeletions, takenWith } from '../resources/dependents.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { demandMatch, entityTag } from '../resources/entity-tag.ts';
import { listFound } from '../resources/paging.ts';
import { heldReference } from '../resources/reference.ts';
import { conflict, invalidField, isId, notFound } from '../resources/refusals.ts';
import { changedFields } from '../resources/repeated-fields.ts';
import { entryOf } from '../resources/write-configuration.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import {
  findMember,
  listMembers,
  lockStandings,
  type MemberRow,
  removeMember,
  updateMember,
} from './queries.ts';
import { demandMayChange, demandOwnerLeft } from './rules.ts';
import { toMember } from './wire.ts';

/** A member to change, locked until commit, with the standings that decide whether the change is allowed. */
interface Seat {
  readonly before: MemberRow;
  readonly target: Standing;
  readonly standings: ReadonlyMap<string, Standing>;
}

/** The member after the change, null when removed, and the keys that it changed. */
interface Change {
  readonly after: MemberRow | null;
  readonly keyIds: readonly string[];
}

/** `dependents` are the rows that the database deletes along with a membership. */
export function memberHandlers(deps: ManagementDeps, dependents: readonly Dependent[]): Handlers {
  return {
    async listMembers(call) {
      const { organizationId } = call.caller;
      const db = deps.ofOrganization(organizationId);
      const rows = await listFound(call, 'listMembers', (range) =>
        listMembers(db, organizationId, deps.deployment, range),
      );
      return rows.map(toMember);
    },
    async updateMember(call) {
      const { organizationId } = call.caller;
      const row = await changeMember(deps, call, 'update', call.params.user_id, async (tx, seat) => {
        demandMatch(call.header, seat.before);
        // Removing a member grants nothing; a role may grant more than the permissions of the calling key.
        const actor = activeStanding(seat.standings, call.caller);
        demandDelegation(call.caller, actor);
        const wanted = changedFields(MemberUpdate, call.body, toMember(seat.before));
        const team_id = await teamOf(tx, organizationId, wanted, seat.before);
        const after = { ...wantedOf(wanted, seat.before), team_id };
        demandMayChange(actor, { from: seat.before.role, to: after.role });
        if (Object.keys(wanted).length === 0) return { after: seat.before, keyIds: [] };
        demandOwnerLeft(seat.standings, seat.target, {
          role: after.role,
          active: after.status === 'active' && seat.before.user_status === 'active',
        });
        await updateMember(tx, organizationId, seat.before.id, after);
        // Changing a role changes no key.
        return { after: (await findMember(tx, organizationId, seat.before.id)) ?? null, keyIds: [] };
      });
      if (row === null) throw notFound('member');
      call.setHeader(headers.etag, entityTag(row));
      return toMember(row);
    },
    async removeMember(call) {
      await changeMember(deps, call, 'delete', call.params.user_id, async (tx, seat) => {
        demandMatch(call.header, seat.before);
        demandMayChange(activeStanding(seat.standings, call.caller), { from: seat.before.role, to: null });
        return remove({ ...deps, dependents }, tx, call, seat);
      });
      return undefined;
    },
    async leaveOrganization(call) {
      demandAccounts(deps.deployment);
      if (call.caller.isAdminSession === true) {
        throw conflict(
          null,
          'The admin token is not a member, so it cannot leave. Sign out instead: DELETE /api/session.',
        );
      }
      await changeMember(deps, call, 'delete', call.caller.userId, (tx, seat) =>
        remove({ ...deps, dependents }, tx, call, seat),
      );
      return undefined;
    },
  };
}

/** Their keys are revoked and their limits deleted with the membership, each with an entry of its own. */
async function remove(
  deps: ManagementDeps & { readonly dependents: readonly Dependent[] },
  tx: Transaction<Database>,
  call: WriteCall,
  { before, target, standings }: Seat,
): Promise<Change> {
  demandOwnerLeft(standings, target, null);
  const scope = { organizationId: call.caller.organizationId, userId: before.id };
  const revoked = await revokeKeys(tx, scope, new Date(deps.clock.nowMs()));
  const entries = revoked.map((key) => revocationEntry(deps, call, { ...key, revoked_at: null }, key));
  const taken = await takenWith(tx, scope.organizationId, deps.dependents, [before.id]);
  await appendAudit(tx, ...entries, ...recordedDeletions(taken).map((each) => entryOf(deps, call, each)));
  await removeMember(tx, scope.organizationId, before.id);
  return { after: null, keyIds: revoked.map(({ id }) => id) };
}

/**
 * Commits, then raises the fence, then responds: requests that arrive after the response see the change. Every
 * change raises the fence, so repeating one whose fence failed raises it again.
 */
async function changeMember(
  deps: ManagementDeps,
  call: WriteCall,
  verb: 'update' | 'delete',
  userId: string,
  write: (tx: Transaction<Database>, seat: Seat) => Promise<Change>,
): Promise<MemberRow | null> {
  demandAccounts(deps.deployment);
  const { organizationId } = call.caller;
  const db = deps.ofOrganization(organizationId);
  const { result, version } = await changeAccess(db, organizationId, async (tx) => {
    const seat = await seatOf(tx, call, userId);
    const { after, keyIds } = await write(tx, seat);
    if (after === seat.before) return { result: after, keyIds };
    await appendAudit(tx, {
      id: deps.newId(),
      organizationId: call.caller.organizationId,
      actor: actorOf(call.caller),
      requestId: call.requestId,
      action: `member.${verb}`,
      targetType: 'member',
      targetId: seat.before.id,
      before: audited(seat.before),
      after: after && audited(after),
    });
    return { result: after, keyIds };
  });
  await deps.fences.raise(organizationId, version);
  await deps.snapshots.refreshNow(organizationId);
  return result;
}

async function seatOf(tx: Transaction<Database>, call: WriteCall, userId: string): Promise<Seat> {
  const { organizationId, userId: actorId } = call.caller;
  if (!isId(userId)) throw notFound('member');
  const standings = await lockStandings(tx, organizationId, [userId, actorId]);
  const target = standings.get(userId.toLowerCase());
  const before = target && (await findMember(tx, organizationId, target.userId));
  if (target === undefined || before === undefined) throw notFound('member');
  return { before, target, standings };
}

function wantedOf(body: MemberUpdate, before: MemberRow): Pick<MemberRow, 'role' | 'status'> {
  const status = body.status ?? before.status;
  if (status !== 'invited') return { role: body.role ?? before.role, status };
  throw invalidField(
    'status',
    'status must be "active" or "suspended". To invite a person, use POST /api/org/invitations.',
  );
}

/** The wanted team, which cannot be deleted until commit. */
async function teamOf(
  tx: Transaction<Database>,
  organizationId: string,
  wanted: MemberUpdate,
  before: MemberRow,
): Promise<string | null> {
  const { team_id = before.team_id } = wanted;
  if (team_id === null || team_id === before.team_id) return team_id;
  const named = { param: 'team_id', kind: 'team', id: team_id };
  return (await heldReference(tx, 'teams', organizationId, named)).id;
}

/** Includes name and email, because a removed member is shown nowhere else. */
function audited({ name, email, role, status, team_id }: MemberRow): object {
  return { name, email, role, status, team_id };
}
