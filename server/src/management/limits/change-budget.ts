import type { UserLimitPolicyUpsert } from '@relay/contract';
import type { Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { demandMatch } from '../resources/entity-tag.ts';
import { conflict, isId, notFound, unknownReference } from '../resources/refusals.ts';
import { changedColumns, demandRepeated } from '../resources/repeated-fields.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import { type BudgetKind, type BudgetRow, findTwin, subjectOf } from './budget-rows.ts';
import { demandEnforcement } from './enforcement.ts';
import { alertColumns } from './limit-alerts.ts';
import { demandWindow } from './limit-window.ts';
import { heldResource } from './limited-resource.ts';

// Locks rows in one order to avoid deadlocks: the owner, the limited resource, the budget. Deleting a member, a
// key or a provider uses the same order.

type ChangeCall = Pick<WriteCall, 'caller' | 'header'>;

/** The fields of a member, key or team limit, with the owner under one name for all kinds. */
export interface WantedBudget extends Omit<UserLimitPolicyUpsert, 'user_uuid' | 'limit_uuid'> {
  readonly subjectId: string;
}

export interface Change {
  readonly before: BudgetRow | null;
  readonly after: BudgetRow | null;
}

export async function createBudget(
  tx: Transaction<Database>,
  kind: BudgetKind,
  { caller: { organizationId }, header }: ChangeCall,
  id: string,
  wanted: WantedBudget,
): Promise<Change> {
  demandMatch(header, null);
  demandWindow(wanted);
  demandEnforcement(wanted);
  const { subjectId } = wanted;
  if (!isId(subjectId)) throw unknownSubject(kind);
  const subject = await kind.lockSubject(tx, organizationId, subjectId, { forNew: true });
  demandRepeated(kind.body, wanted, subject);
  const row = { id, ...(await heldColumns(tx, organizationId, wanted, wanted.target_id ?? null)) };
  await demandNoTwin(tx, kind, organizationId, subjectId, row);
  const whole = { ...row, [kind.subjectColumn]: subjectId };
  const after = await kind.rows.insert(tx, organizationId, whole);
  if (after !== undefined) return { before: null, after };
  // The owner is locked, so no equal limit can have been created since the check.
  throw new RelayError('internal_error', { internal: `${kind.noun} ${id} already exists` });
}

export async function updateBudget(
  tx: Transaction<Database>,
  kind: BudgetKind,
  call: ChangeCall,
  limitId: string,
  wanted: WantedBudget,
): Promise<Change> {
  demandWindow(wanted);
  const { organizationId } = call.caller;
  const found = await foundBudget(tx, kind, call, limitId);
  const subjectId = subjectOf(kind, found);
  if (subjectId !== wanted.subjectId.toLowerCase()) {
    // One that exists here cannot be the new owner; any other is not found.
    if (!isId(wanted.subjectId)) throw unknownSubject(kind);
    await kind.lockSubject(tx, organizationId, wanted.subjectId, { forNew: false });
  }
  demandSame(kind, found, wanted);
  const subject = await kind.lockSubject(tx, organizationId, subjectId, { forNew: false });
  demandRepeated(kind.body, wanted, { id: found.id, ...subject });
  // Writers of a subject's budgets wait for one another: what an update leaves out is as the last of them left it.
  const current = await foundBudget(tx, kind, call, limitId);
  const columns = kind.fixed.includes('target_id')
    ? limitOf(wanted)
    : await heldColumns(tx, organizationId, wanted, wantedTargetId(current, wanted));
  const before = await lockedBudget(tx, kind, call, limitId);
  demandEnforcement(wanted, before);
  await demandNoTwin(tx, kind, organizationId, subjectId, { ...before, ...columns });
  const patch = changedColumns(before, columns);
  if (Object.keys(patch).length === 0) return { before, after: before };
  const after = await kind.rows.update(tx, organizationId, before.id, patch);
  return { before, after: after ?? null };
}

export async function removeBudget(
  tx: Transaction<Database>,
  kind: BudgetKind,
  call: ChangeCall,
  limitId: string,
): Promise<Change> {
  const { organizationId } = call.caller;
  const found = await foundBudget(tx, kind, call, limitId);
  await kind.lockSubject(tx, organizationId, subjectOf(kind, found), { forNew: false });
  const before = await lockedBudget(tx, kind, call, limitId);
  await kind.rows.remove(tx, organizationId, before.id);
  return { before, after: null };
}

const SUBJECT_NOUNS = { user: 'member', api_key: 'API key', team: 'team' } as const;

export function unknownSubject({
  subjectParam,
  kind,
}: Pick<BudgetKind, 'subjectParam' | 'kind'>): RelayError {
  return unknownReference(subjectParam, SUBJECT_NOUNS[kind]);
}

async function foundBudget(
  tx: Transaction<Database>,
  { rows, noun }: BudgetKind,
  { caller }: ChangeCall,
  limitId: string,
): Promise<BudgetRow> {
  const row = isId(limitId) ? await rows.find(tx, caller.organizationId, limitId) : undefined;
  if (row === undefined) throw notFound(noun);
  return row;
}

async function lockedBudget(
  tx: Transaction<Database>,
  { rows, noun }: BudgetKind,
  { caller, header }: ChangeCall,
  limitId: string,
): Promise<BudgetRow> {
  const row = await rows.lock(tx, caller.organizationId, limitId);
  if (row === undefined) throw notFound(noun);
  demandMatch(header, row);
  return row;
}

async function demandNoTwin(
  tx: Transaction<Database>,
  kind: BudgetKind,
  organizationId: string,
  subjectId: string,
  wanted: Parameters<typeof findTwin>[4],
): Promise<void> {
  const twin = await findTwin(tx, kind, organizationId, subjectId, wanted);
  if (twin === undefined) return;
  throw conflict(
    'limit_uuid',
    `A limit for this ${kind.subjectParam}, target, metric and period already exists. Send limit_uuid "${twin}" to change it.`,
  );
}

async function heldColumns(
  tx: Transaction<Database>,
  organizationId: string,
  wanted: WantedBudget,
  targetId: string | null,
) {
  const { target_type } = wanted;
  const named = { type: target_type, id: targetId, fields: 'target' } as const;
  return { target_type, target_id: await heldResource(tx, organizationId, named), ...limitOf(wanted) };
}

function limitOf(wanted: WantedBudget) {
  const { metric, period, limit_value, unpriced, enforcement, enabled } = wanted;
  return { metric, period, limit_value, unpriced, enforcement, enabled, ...alertColumns(wanted) };
}

/**
 * An omitted id keeps the target, unless its type changes: the old id then belongs to another kind of resource.
 */
function wantedTargetId(row: BudgetRow, { target_type, target_id }: WantedBudget): string | null {
  if (target_id !== undefined) return target_id;
  return target_type === row.target_type ? row.target_id : null;
}

/** Rejects a change of the owner or of a field that is fixed for this kind. */
function demandSame(kind: BudgetKind, row: BudgetRow, wanted: WantedBudget): void {
  const refuse = (param: string) =>
    conflict(
      param,
      `${param} can’t be changed. Send the current value, or delete this limit and create another.`,
    );
  if (subjectOf(kind, row) !== wanted.subjectId.toLowerCase()) throw refuse(kind.subjectParam);
  const whole = { ...wanted, target_id: wantedTargetId(row, wanted)?.toLowerCase() ?? null };
  for (const field of kind.fixed) if (whole[field] !== row[field]) throw refuse(field);
}
