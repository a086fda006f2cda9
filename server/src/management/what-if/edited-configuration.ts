import type { WhatIfRequest } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Call } from '../../http/call.ts';
import { readSnapshotToReplay } from '../../store/configuration/load-snapshot.ts';
import { readKeyTerms } from '../../store/keys/read-key-terms.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Change, Plan } from '../config-file/make-plan.ts';
import { type ConfigFileDeps, prepared } from '../config-file/routes.ts';
import { writeChanges } from '../config-file/write-changes.ts';
import { rolledBack } from '../dry-run/rolled-back.ts';
import { createTryEdit } from '../dry-run/try-edit.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField } from '../resources/refusals.ts';
import { sealedSecret } from '../resources/sealed-secret.ts';
import type { ReplayedConfiguration } from './replay.ts';

type Configured = Omit<ReplayedConfiguration, 'openings'>;

export interface BothConfigurations {
  readonly before: Configured;
  readonly after: Configured;
}

/** Reads both, with the limits of these keys. */
export type ReadBoth = (keyIds: readonly string[]) => Promise<BothConfigurations>;

type Write = (tx: Transaction<Database>) => Promise<void>;

/**
 * The configuration as it is, and as it would be after the edit were saved: the edit is written, read and rolled back, so it means exactly
 * what a save would make of it. Throws what a save would throw; what is wrong with the call itself, before anything is read.
 */
export function createReadBoth(deps: ManagementDeps): (call: Call<'whatIf'>) => ReadBoth {
  const tryEdit = createTryEdit(deps);

  function writeOf(call: Call<'whatIf'>): Write {
    const { config, edit, prune = false } = call.body;
    if (config !== undefined && edit === undefined)
      return writeOfFile(deps, call.caller.organizationId, { config, prune });
    if (edit === undefined || config !== undefined)
      throw invalidField(
        'edit',
        'Send either "config" (a configuration file) or "edit" (an edit of one resource).',
      );
    if (prune) throw invalidField('prune', 'prune is for a configuration file. Leave it out.');
    return (tx) => tryEdit(tx, call, edit);
  }

  return (call) => {
    const { organizationId } = call.caller;
    const write = writeOf(call);
    return (keyIds) =>
      rolledBack(deps, organizationId, 'alone', async (tx) => {
        const nowMs = deps.clock.nowMs();
        const read = async (): Promise<Configured> => ({
          snapshot: await readSnapshotToReplay(tx, organizationId, nowMs),
          keys: await readKeyTerms(tx, organizationId, keyIds),
        });
        const before = await read();
        await write(tx);
        const after = await read();
        return { before, after: { ...after, snapshot: laterThan(before.snapshot, after.snapshot) } };
      });
  };
}

/** A later version, as after a save. */
function laterThan(before: OrganizationSnapshot, after: OrganizationSnapshot): OrganizationSnapshot {
  return { ...after, version: before.version + 1 };
}

function writeOfFile(
  deps: ConfigFileDeps,
  organizationId: string,
  request: Required<Pick<WhatIfRequest, 'config' | 'prune'>>,
): Write {
  const prepare = prepared(deps, request);
  return async (tx) => {
    const { input, plan } = await prepare(tx, organizationId);
    await writeChanges(tx, organizationId, input.sections, withAnySecret(deps, organizationId, plan));
  };
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
