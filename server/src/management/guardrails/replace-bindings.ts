import { isDeepStrictEqual } from 'node:util';
import { type GuardrailBindingsUpdate, GuardrailBindingWrite, headers } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { auditedRow } from '../resources/audited-row.ts';
import { demandMatch, entityTag } from '../resources/entity-tag.ts';
import { demandGovernorsFree } from '../resources/governors.ts';
import { demandNotOwnedByFile } from '../resources/ownership.ts';
import { heldReference } from '../resources/reference.ts';
import { invalidField, isId, notFound } from '../resources/refusals.ts';
import { demandRepeated } from '../resources/repeated-fields.ts';
import { ownedRows, type Row, storedTable } from '../resources/rows.ts';
import { type WriteDeps, writeConfiguration } from '../resources/write-configuration.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import { bindingGovernors } from './binding-parents.ts';
import { listBindingsOf } from './queries.ts';
import { toBinding } from './wire.ts';

type BindingRow = Row<'guardrail_bindings'>;

interface Wanted {
  readonly path: string;
  readonly sent: object;
  readonly targetType: BindingRow['target_type'];
  readonly targetId: string | null;
  readonly enabled: boolean;
}

export const guardrailResource = { noun: 'guardrail', table: storedTable('guardrails') };

const TARGETS = { lane: 'lanes', provider: 'providers', endpoint: 'endpoints' } as const;

/**
 * Replaces all bindings of a guardrail. Bindings that remain keep their ids, and those that the configuration
 * file owns must be in the body unchanged. Increments the guardrail's version, because its response has
 * the number of its bindings.
 */
export async function replaceBindings(
  deps: WriteDeps,
  call: WriteCall,
  guardrailId: string,
  body: GuardrailBindingsUpdate,
): Promise<BindingRow[]> {
  if (!isId(guardrailId)) throw notFound('guardrail');
  const wanted = wantedOf(body);
  const { organizationId } = call.caller;
  const guardrails = ownedRows(guardrailResource.table);
  const { bindings, after } = await writeConfiguration(deps, call, 'shared', async (tx) => {
    const before = await guardrails.lock(tx, organizationId, guardrailId);
    if (before === undefined) throw notFound('guardrail');
    demandMatch(call.header, before);
    const old = await listBindingsOf(tx, organizationId, guardrailId);
    await writeBindings(deps, tx, before, old, wanted);
    const result = await listBindingsOf(tx, organizationId, guardrailId);
    if (isDeepStrictEqual(result, old))
      return { result: { after: before, bindings: old }, changes: [], isFenced: before.enabled };
    const touched = await guardrails.update(tx, organizationId, guardrailId, { enabled: before.enabled });
    if (touched === undefined) throw notFound('guardrail');
    const change = { before: audited(before, old), after: audited(touched, result) };
    return {
      result: { after: touched, bindings: result },
      changes: [{ noun: 'guardrail', id: before.id, ...change }],
      // A new or enabled binding must apply to the next request. Repeating a call whose fence failed raises it
      // again.
      isFenced: touched.enabled,
    };
  });
  call.setHeader(headers.etag, entityTag(after));
  return bindings;
}

function wantedOf({ bindings }: GuardrailBindingsUpdate): Wanted[] {
  const seen = new Map<string, string>();
  return bindings.map((sent, index) => {
    const { target_type, target_id = null, enabled = true } = sent;
    const path = `bindings[${index}]`;
    const param = `${path}.target_id`;
    if ((target_type === 'global') !== (target_id === null)) {
      const rule =
        target_type === 'global'
          ? `must be null or omitted when target_type is "global".`
          : `must name the ${target_type} when target_type is "${target_type}".`;
      throw invalidField(param, `${param} ${rule}`);
    }
    const key = `${target_type} ${target_id?.toLowerCase()}`;
    const other = seen.get(key);
    if (other !== undefined)
      throw invalidField(param, `${param} is the same target as ${other}. Remove one of them.`);
    seen.set(key, path);
    return { path, sent, targetType: target_type, targetId: target_id, enabled };
  });
}

async function writeBindings(
  { newId }: Pick<WriteDeps, 'newId'>,
  tx: Transaction<Database>,
  guardrail: Row<'guardrails'>,
  old: readonly BindingRow[],
  wanted: readonly Wanted[],
): Promise<void> {
  const { organization_id: organizationId, id: guardrail_id } = guardrail;
  const bindingRows = ownedRows(storedTable('guardrail_bindings'));
  const left = new Map(old.map((row) => [keyOf(row.target_type, row.target_id), row]));
  for (const { path, sent, targetType, targetId, enabled } of wanted) {
    const target_id = await heldTarget(tx, organizationId, `${path}.target_id`, targetType, targetId);
    const known = left.get(keyOf(targetType, target_id));
    demandRepeated(GuardrailBindingWrite, sent, known === undefined ? {} : toBinding(known), path);
    left.delete(keyOf(targetType, target_id));
    if (known === undefined) {
      const row = { id: newId(), guardrail_id, target_type: targetType, target_id, enabled };
      await demandGovernorsFree(tx, bindingGovernors, { ...row, organization_id: organizationId });
      await bindingRows.insert(tx, organizationId, row);
    } else if (known.enabled !== enabled) {
      await demandFree(tx, known);
      await bindingRows.update(tx, organizationId, known.id, { enabled });
    }
  }
  for (const row of left.values()) {
    await demandFree(tx, row);
    await bindingRows.remove(tx, organizationId, row.id);
  }
}

async function demandFree(tx: Transaction<Database>, row: BindingRow): Promise<void> {
  demandNotOwnedByFile('guardrail_binding', row);
  await demandGovernorsFree(tx, bindingGovernors, row);
}

/** The stored id of the target, which cannot be deleted until commit. */
async function heldTarget(
  tx: Transaction<Database>,
  organizationId: string,
  param: string,
  type: BindingRow['target_type'],
  id: string | null,
): Promise<string | null> {
  if (type === 'global' || id === null) return null;
  return (await heldReference(tx, TARGETS[type], organizationId, { param, kind: type, id })).id;
}

function keyOf(type: string, id: string | null): string {
  return `${type} ${id}`;
}

function audited(guardrail: Row<'guardrails'>, bindings: readonly BindingRow[]): object {
  const said = bindings.map(({ target_type, target_id, enabled }) => ({ target_type, target_id, enabled }));
  return { ...auditedRow(guardrailResource.table, guardrail), bindings: said };
}
