import type { Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { OwnedTable, Row } from '../owned-rows.ts';

/** What a row of any configuration table may say of itself; some have no name, some no owner. */
interface Ownable {
  readonly id: string;
  readonly name?: string;
  readonly managed_by?: 'file' | null;
}

/** The mark on the wire: there only when the file owns the resource. */
export function ownerOf(row: Ownable): { managed_by?: 'file' } {
  return row.managed_by === 'file' ? { managed_by: 'file' } : {};
}

/** What the file owns is changed in the file: a change made elsewhere would be undone by the next apply. */
export function demandNotOwnedByFile(kind: string, row: Ownable): void {
  if (row.managed_by !== 'file') return;
  throw new RelayError('managed_by_file', {
    message: `The ${sayOf(kind, row)} is owned by the configuration file. Change it there and apply the file; or take it out of the file and apply that with release (relay config apply --release), and it is free again.`,
    fields: { resource: kind, id: row.id },
  });
}

const boundTo: Dependent = { table: 'guardrail_bindings', column: 'target_id', kind: 'guardrail_binding' };

/** Which tables lose rows when one of this table is deleted. */
const DEPENDENTS: Readonly<Record<string, readonly Dependent[]>> = {
  providers: [
    { table: 'credentials', column: 'provider_id', kind: 'credential' },
    { table: 'limit_policies', column: 'scope_id', kind: 'limit_policy' },
    boundTo,
  ],
  credentials: [{ table: 'limit_policies', column: 'scope_id', kind: 'limit_policy' }],
  endpoints: [
    { table: 'lane_memberships', column: 'endpoint_id', kind: 'lane_membership' },
    { table: 'pricing_policies', column: 'endpoint_id', kind: 'pricing_policy' },
    { table: 'limit_policies', column: 'scope_id', kind: 'limit_policy' },
    boundTo,
  ],
  lanes: [
    { table: 'lane_memberships', column: 'lane_id', kind: 'lane_membership' },
    { table: 'limit_policies', column: 'scope_id', kind: 'limit_policy' },
    boundTo,
  ],
  guardrails: [{ table: 'guardrail_bindings', column: 'guardrail_id', kind: 'guardrail_binding' }],
};

interface Dependent {
  readonly table:
    | 'credentials'
    | 'lane_memberships'
    | 'pricing_policies'
    | 'limit_policies'
    | 'guardrail_bindings';
  readonly column: 'provider_id' | 'endpoint_id' | 'lane_id' | 'scope_id' | 'target_id' | 'guardrail_id';
  readonly kind: string;
}

/** A deletion takes along what hangs on the row, and nothing of that may be the file's. */
export async function demandNoneOwnedBelow<T extends OwnedTable>(
  tx: Transaction<Database>,
  table: T,
  kind: string,
  row: Row<T>,
): Promise<void> {
  for (const below of DEPENDENTS[table] ?? []) {
    const owned = await tx
      .selectFrom(below.table as 'limit_policies')
      .selectAll()
      .where('organization_id', '=', row.organization_id)
      .where(below.column as 'scope_id', '=', row.id)
      .where('managed_by', '=', 'file')
      .limit(1)
      .executeTakeFirst();
    if (owned === undefined) continue;
    throw new RelayError('managed_by_file', {
      message: `Deleting the ${sayOf(kind, row)} would delete its ${sayOf(below.kind, owned)}, which is owned by the configuration file. Take that out of the file and apply it with prune (relay config apply --prune) first.`,
      fields: { resource: below.kind, id: owned.id },
    });
  }
}

function sayOf(kind: string, row: Ownable): string {
  const noun = kind.replaceAll('_', ' ');
  return row.name === undefined ? `${noun} ${row.id}` : `${noun} "${row.name}"`;
}
