import { countWords } from '@relay/contract/words';
import type { Transaction } from 'kysely';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import type { Database, tables } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { conflict, invalidField, isId, unknownReference } from '../resources/refusals.ts';
import { ownedRows, type Row, storedTable } from '../resources/rows.ts';
import { insertSlugged } from '../resources/slugged-insert.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { toTeam } from './wire.ts';

/** Every gateway holds all teams of an organization, with their budgets. */
const TEAMS_MAX = 1_000;

export function teamHandlers(_deps: ManagementDeps, writes: ResourceWrites<typeof tables.teams>): Handlers {
  return {
    async listTeams(call) {
      return (await writes.list(call, 'listTeams')).map(toTeam);
    },
    getTeam: async (call) => toTeam(await writes.read(call, call.params.team_id)),
    async createTeam(call) {
      const { name, kind, parent_id = null } = call.body;
      demandStorable({ name });
      const row = await writes.create(call, async ({ tx, organizationId }, id) => {
        const others = await writes.rows.list(tx, organizationId, { limit: TEAMS_MAX });
        if (others.length >= TEAMS_MAX)
          throw conflict(
            'name',
            `An organization can have at most ${countWords(TEAMS_MAX)} teams. Delete one first.`,
          );
        const parentId = await parentOf(tx, organizationId, parent_id, null);
        const named = { name, fallback: 'team' };
        return insertSlugged(tx, writes.rows, organizationId, named, (slug) => ({
          id,
          name,
          slug,
          kind: kind ?? 'team',
          parent_id: parentId,
        }));
      });
      return toTeam(row);
    },
    async updateTeam(call) {
      const { name, kind, parent_id } = call.body;
      demandStorable({ name });
      const row = await writes.update(call, call.params.team_id, async ({ tx, organizationId }, before) => ({
        name,
        kind,
        ...(parent_id !== undefined && {
          parent_id: await parentOf(tx, organizationId, parent_id, before),
        }),
      }));
      return toTeam(row);
    },
    deleteTeam: (call) => writes.remove(call, call.params.team_id),
  };
}

/** Holds the parent until commit, so that it gets no parent itself meanwhile. */
async function parentOf(
  tx: Transaction<Database>,
  organizationId: string,
  parentId: string | null,
  team: Row<'teams'> | null,
): Promise<string | null> {
  if (parentId === null) return null;
  const parent = isId(parentId)
    ? await ownedRows(storedTable('teams')).lock(tx, organizationId, parentId)
    : undefined;
  if (parent === undefined) throw unknownReference('parent_id', 'team');
  if (parent.id === team?.id) throw invalidField('parent_id', 'A team cannot be its own parent.');
  if (parent.parent_id !== null) {
    throw invalidField(
      'parent_id',
      `Teams nest one level deep, and "${parent.name}" has a parent. Use that parent instead.`,
    );
  }
  if (team !== null && (await hasChildren(tx, organizationId, team.id))) {
    throw invalidField(
      'parent_id',
      `Teams nest one level deep, and other teams belong to "${team.name}". Move them first.`,
    );
  }
  return parent.id;
}

async function hasChildren(
  tx: Transaction<Database>,
  organizationId: string,
  teamId: string,
): Promise<boolean> {
  const child = await tx
    .selectFrom('teams')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('parent_id', '=', teamId)
    .executeTakeFirst();
  return child !== undefined;
}
