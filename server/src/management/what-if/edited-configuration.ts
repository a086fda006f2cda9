import type { WhatIfRequest } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { readSnapshotToReplay } from '../../store/configuration/load-snapshot.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Change, Plan } from '../config-file/make-plan.ts';
import { type ConfigFileDeps, prepared } from '../config-file/routes.ts';
import { writeChanges } from '../config-file/write-changes.ts';
import { lockConfiguration } from '../resources/configuration-lock.ts';
import { sealedSecret } from '../resources/sealed-secret.ts';

export interface BothSnapshots {
  readonly before: OrganizationSnapshot;
  readonly after: OrganizationSnapshot;
}

/** Ends the transaction: what was written in it never existed. */
class RolledBack extends Error {
  readonly both: BothSnapshots;

  constructor(both: BothSnapshots) {
    super('rolled back');
    this.both = both;
  }
}

/**
 * The configuration as it is, and as it would be after the file were applied: the file is applied, read and rolled back, so the edit means
 * exactly what an apply would make of it. Throws what an apply would throw.
 */
export async function readBothSnapshots(
  deps: ConfigFileDeps,
  organizationId: string,
  { config, prune = false }: Pick<WhatIfRequest, 'config' | 'prune'>,
): Promise<BothSnapshots> {
  const prepare = prepared(deps, { config, prune });
  try {
    return await deps
      .ofOrganization(organizationId)
      .transaction()
      .execute(async (tx): Promise<never> => {
        await lockConfiguration(tx, organizationId, 'alone');
        const nowMs = deps.clock.nowMs();
        const before = await readSnapshotToReplay(tx, organizationId, nowMs);
        const { input, plan } = await prepare(tx, organizationId);
        await writeChanges(tx, organizationId, input.sections, withAnySecret(deps, organizationId, plan));
        throw new RolledBack({ before, after: await readEdited(tx, before, nowMs) });
      });
  } catch (error) {
    if (error instanceof RolledBack) return error.both;
    throw error;
  }
}

/** A later version, as after an apply. */
async function readEdited(
  tx: Transaction<Database>,
  { organizationId, version }: OrganizationSnapshot,
  nowMs: number,
): Promise<OrganizationSnapshot> {
  return { ...(await readSnapshotToReplay(tx, organizationId, nowMs)), version: version + 1 };
}

/** A new credential needs a secret to be stored. A replay sends none, so any will do. */
function withAnySecret({ sealer }: ConfigFileDeps, organizationId: string, plan: Plan): Change[] {
  return plan.changes.map((change) => {
    const { action, section, item, id } = change;
    if (action !== 'create' || section.firstPlace === null || item === null) return change;
    const place = section.firstPlace(organizationId, id, item.entry, plan.ids);
    return { ...change, columns: { ...change.columns, ...sealedSecret(sealer, place, 'what-if') } };
  });
}
