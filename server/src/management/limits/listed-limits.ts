import type { LimitUsage } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { budgetLimit, endpointBound, type Limit, resourceLimit } from '../../domain/limits/limit.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type CursorList, cursorAt, positionAt, unknownCursor } from '../resources/cursor.ts';
import { isId } from '../resources/refusals.ts';
import { toBudgetPolicy } from './budget-rows.ts';
import { listKeyBudgets } from './key-budgets.ts';
import { listTeamBudgets } from './team-budgets.ts';
import { listUserBudgets } from './user-budgets.ts';
import { seesOrganization, visibleOwner } from './visibility.ts';

/** The position of a limit in the list: its section, and its id there. */
export interface Position {
  readonly section: number;
  readonly id: string;
}

export interface ListedLimit extends Position {
  readonly limit: Limit;
}

/** Reads up to `count` limits of one section after an id, in the order of ids. */
type Section = (
  afterId: string | undefined,
  count: number,
) => Promise<readonly { id: string; limit: Limit }[]>;

interface Reader {
  readonly caller: Caller;
  readonly snapshot: OrganizationSnapshot;
  readonly db: Kysely<Database>;
  /** Undefined for all kinds. */
  readonly kind: LimitUsage['policy_kind'] | undefined;
  /** Only the limits of this member and of their keys; undefined for all. */
  readonly userId: string | undefined;
}

/** The kind of limit in each section. */
const KINDS: readonly LimitUsage['policy_kind'][] = ['resource', 'resource', 'user', 'api_key', 'team'];

/**
 * Up to `count` active limits that the caller may see, of members and keys that can send, after a position: shared limits, endpoint concurrency,
 * member limits, key limits, team limits. The first two come from this process's snapshot. Member and key limits can be too
 * many to hold, so only the needed page is read from the database.
 */
export async function listLimits(
  reader: Reader,
  after: Position | null,
  count: number,
): Promise<ListedLimit[]> {
  const found: ListedLimit[] = [];
  if (isForeign(reader)) return found;
  for (const [section, read] of sectionsFor(reader).entries()) {
    if (found.length >= count) break;
    if (after !== null && section < after.section) continue;
    if (reader.kind !== undefined && reader.kind !== KINDS[section]) continue;
    const afterId = section === after?.section ? after.id : undefined;
    const items = await read(afterId, count - found.length);
    found.push(...items.map((item) => ({ section, ...item })));
  }
  return found;
}

/** A member whose limits the caller may not see, or text that is not an ID. */
function isForeign({ caller, userId }: Reader): boolean {
  if (userId === undefined) return false;
  return !isId(userId) || (visibleOwner(caller) ?? userId) !== userId;
}

/** Always five sections, even if empty, so that a position is valid for every caller. */
function sectionsFor({ caller, snapshot, db, userId }: Reader): readonly Section[] {
  const { organizationId } = caller;
  const owner = visibleOwner(caller) ?? userId;
  // Every caller can read what can reject them: shared limits, and those of their teams.
  const shared = userId === undefined;
  const teamsOf = seesOrganization(caller) ? undefined : caller.userId;
  const policies = shared ? snapshot.limitPolicies : [];
  const endpoints = shared ? [...snapshot.endpoints.values()] : [];
  return [
    inMemory(policies.map((policy) => ({ id: policy.id, limit: resourceLimit(policy) }))),
    inMemory(
      endpoints.flatMap((endpoint) => {
        const { id, maxConcurrency } = endpoint;
        return maxConcurrency === null ? [] : [{ id, limit: endpointBound(endpoint, maxConcurrency) }];
      }),
    ),
    async (afterId, limit) => {
      const scope = { organizationId, userId: owner, enabledOnly: true, sendingOnly: true } as const;
      const rows = await listUserBudgets(db, scope, { afterId, limit });
      return rows.map((row) => ({
        id: row.id,
        limit: budgetLimit(toBudgetPolicy('user', row.user_id, row)),
      }));
    },
    async (afterId, limit) => {
      const scope = { organizationId, ownerId: owner, enabledOnly: true, sendingOnly: true } as const;
      const rows = await listKeyBudgets(db, scope, { afterId, limit });
      return rows.map((row) => ({
        id: row.id,
        limit: budgetLimit(toBudgetPolicy('api_key', row.api_key_id, row)),
      }));
    },
    async (afterId, limit) => {
      if (!shared) return [];
      const scope = { organizationId, teamId: undefined, userId: teamsOf, enabledOnly: true };
      const rows = await listTeamBudgets(db, scope, { afterId, limit });
      return rows.map((row) => ({
        id: row.id,
        limit: budgetLimit(toBudgetPolicy('team', row.team_id, row)),
      }));
    },
  ];
}

/** Pages over a list of the snapshot, which is sorted by id. */
function inMemory(items: readonly { id: string; limit: Limit }[]): Section {
  return async (afterId, count) =>
    (afterId === undefined ? items : items.filter(({ id }) => id > afterId)).slice(0, count);
}

export function cursorOf(list: CursorList, { section, id }: Position): string {
  return cursorAt(list, Buffer.from(`0${section}${id.replaceAll('-', '')}`, 'hex'));
}

/** Throws unless this list gave out the cursor. */
export function positionOf(list: CursorList, cursor: string): Position {
  const hex = positionAt(list, cursor).toString('hex');
  const [, section, ...id] = /^0([0-4])(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(hex) ?? [];
  if (section === undefined) throw unknownCursor();
  return { section: Number(section), id: id.join('-') };
}
