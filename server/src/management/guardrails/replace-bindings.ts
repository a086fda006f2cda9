import { type GuardrailBindingsUpdate, headers } from '@relay/contract';
import type { Transaction } from 'kysely';
import { changeAccess } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { appendAudit, auditedRow } from '../audit.ts';
import { lockConfiguration } from '../config-file/configuration-lock.ts';
import { demandNotOwnedByFile } from '../config-file/ownership.ts';
import type { ManagementDeps } from '../deps.ts';
import { endpointRows } from '../endpoints/queries.ts';
import { demandMatch, entityTag } from '../entity-tag.ts';
import { laneRows } from '../lanes/queries.ts';
import type { Row } from '../owned-rows.ts';
import { providerRows } from '../providers/queries.ts';
import { heldReference } from '../reference.ts';
import { invalidField, isId, notFound } from '../refusals.ts';
import type { WriteCall } from '../write-resource.ts';
import { bindingRows, guardrailRows, listBindingsOf } from './queries.ts';

type ReplaceDeps = Pick<ManagementDeps, 'ofOrganization' | 'snapshots' | 'newId' | 'fences'>;
type BindingRow = Row<'guardrail_bindings'>;

interface Wanted {
  readonly param: string;
  readonly targetType: BindingRow['target_type'];
  readonly targetId: string | null;
  readonly enabled: boolean;
}

const TARGETS = { lane: laneRows, provider: providerRows, endpoint: endpointRows };

/**
 * The bindings of a guardrail become those of the body. What stays keeps its id, and what the configuration file owns has
 * to be among them as it is. The guardrail's version grows, because its bindings are part of what is read of it.
 */
export async function replaceBindings(
  deps: ReplaceDeps,
  call: WriteCall,
  guardrailId: string,
  body: GuardrailBindingsUpdate,
): Promise<BindingRow[]> {
  if (!isId(guardrailId)) throw notFound('guardrail');
  const wanted = wantedOf(body);
  const { organizationId } = call.caller;
  const db = deps.ofOrganization(organizationId);
  const { result, version } = await changeAccess(db, organizationId, async (tx) => {
    await lockConfiguration(tx, organizationId, 'shared');
    const before = await guardrailRows.lock(tx, organizationId, guardrailId);
    if (before === undefined) throw notFound('guardrail');
    demandMatch(call.header, before);
    const old = await listBindingsOf(tx, organizationId, guardrailId);
    await writeBindings(deps, tx, before, old, wanted);
    const bindings = await listBindingsOf(tx, organizationId, guardrailId);
    const after = await guardrailRows.update(tx, organizationId, guardrailId, { enabled: before.enabled });
    if (after === undefined) throw notFound('guardrail');
    await appendAudit(tx, {
      id: deps.newId(),
      caller: call.caller,
      requestId: call.requestId,
      action: 'guardrail.update',
      targetType: 'guardrail',
      targetId: before.id,
      before: audited(before, old),
      after: audited(after, bindings),
    });
    return { result: { after, bindings }, keyIds: [] };
  });
  // A binding may have come or been enabled, and repeating a call whose fence failed raises it again.
  if (result.after.enabled) await deps.fences.raise(organizationId, version);
  await deps.snapshots.refreshNow(organizationId);
  call.setHeader(headers.etag, entityTag(result.after));
  return result.bindings;
}

function wantedOf({ bindings }: GuardrailBindingsUpdate): Wanted[] {
  const seen = new Map<string, string>();
  return bindings.map(({ target_type, target_id = null, enabled = true }, index) => {
    const param = `bindings[${index}].target_id`;
    if ((target_type === 'global') !== (target_id === null)) {
      const rule =
        target_type === 'global'
          ? `must be null or left out when target_type is "global".`
          : `must name the ${target_type} when target_type is "${target_type}".`;
      throw invalidField(param, `${param} ${rule}`);
    }
    const key = `${target_type} ${target_id?.toLowerCase()}`;
    const other = seen.get(key);
    if (other !== undefined)
      throw invalidField(param, `${param} is the same target as ${other}. Leave one out.`);
    seen.set(key, `bindings[${index}]`);
    return { param, targetType: target_type, targetId: target_id, enabled };
  });
}

async function writeBindings(
  { newId }: Pick<ReplaceDeps, 'newId'>,
  tx: Transaction<Database>,
  guardrail: Row<'guardrails'>,
  old: readonly BindingRow[],
  wanted: readonly Wanted[],
): Promise<void> {
  const { organization_id: organizationId, id: guardrail_id } = guardrail;
  const left = new Map(old.map((row) => [keyOf(row.target_type, row.target_id), row]));
  for (const { param, targetType, targetId, enabled } of wanted) {
    const target_id = await heldTarget(tx, organizationId, param, targetType, targetId);
    const known = left.get(keyOf(targetType, target_id));
    left.delete(keyOf(targetType, target_id));
    if (known === undefined) {
      const row = { id: newId(), guardrail_id, target_type: targetType, target_id, enabled };
      await bindingRows.insert(tx, organizationId, row);
    } else if (known.enabled !== enabled) {
      demandNotOwnedByFile('guardrail_binding', known);
      await bindingRows.update(tx, organizationId, known.id, { enabled });
    }
  }
  for (const row of left.values()) {
    demandNotOwnedByFile('guardrail_binding', row);
    await bindingRows.remove(tx, organizationId, row.id);
  }
}

/** The id as stored, kept from being deleted until commit. */
async function heldTarget(
  tx: Transaction<Database>,
  organizationId: string,
  param: string,
  type: BindingRow['target_type'],
  id: string | null,
): Promise<string | null> {
  if (type === 'global' || id === null) return null;
  // Which table it is does not matter any more: an id is all that is asked of the row.
  const rows = TARGETS[type] as typeof laneRows;
  return (await heldReference(tx, rows, organizationId, { param, kind: type, id })).id;
}

function keyOf(type: string, id: string | null): string {
  return `${type} ${id}`;
}

function audited(guardrail: Row<'guardrails'>, bindings: readonly BindingRow[]): object {
  const said = bindings.map(({ target_type, target_id, enabled }) => ({ target_type, target_id, enabled }));
  return { ...auditedRow('guardrails', guardrail), bindings: said };
}
