import type { ConfigApplyRequest, ConfigPlan, ConfigPlanRequest } from '@relay/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { bumpConfigVersion } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { appendAudits, auditedRow } from '../audit.ts';
import type { ManagementDeps } from '../deps.ts';
import { invalidField } from '../refusals.ts';
import { readConfiguration, readConfigurationAtOnce } from './configuration.ts';
import { lockConfiguration } from './configuration-lock.ts';
import { withDefaultPrices, withoutDefaultPrices } from './default-prices.ts';
import { exportFile } from './export-file.ts';
import { demandGuardrailScope, guardrailFence } from './guardrail-changes.ts';
import { judgePlan, secretsToEnterAgain } from './judge-plan.ts';
import { type Change, makePlan, type Orphans, type Plan, type PlanInput } from './make-plan.ts';
import { demandRoomForPlan } from './plan-room.ts';
import { planHash, toConfigPlan } from './plan-wire.ts';
import { readFile } from './read-file.ts';
import type { HeldItem } from './secret-holders.ts';
import { demandProvided, itemsToProvide, secretStates, withSecrets } from './secrets.ts';
import { sectionsOf } from './sections/index.ts';
import { writeChanges } from './write-changes.ts';

export type ConfigFileDeps = Pick<
  ManagementDeps,
  'ofOrganization' | 'snapshots' | 'sealer' | 'egress' | 'newId' | 'deployment' | 'fences' | 'clock'
>;

/** Who applies a file, and for which request. */
interface Applying {
  readonly caller: Caller;
  readonly requestId: string;
}

/** The configuration as a file. What the file names is owned by it, and its other writers are refused. */
export function configFileHandlers(deps: ConfigFileDeps): Handlers {
  return {
    async exportConfig({ caller: { organizationId } }) {
      const sections = sectionsOf(deps.deployment);
      const db = deps.ofOrganization(organizationId);
      const configuration = await readConfigurationAtOnce(db, organizationId, sections);
      return exportFile(await withoutDefaultPrices(deps, configuration), sections);
    },
    async planConfig({ caller, body }) {
      const { organizationId } = caller;
      const prepare = prepared(deps, body);
      const { input, plan, toProvide, toEnterAgain } = await deps
        .ofOrganization(organizationId)
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute((tx) => prepare(tx, organizationId));
      // Whoever may not replace a secret is not told whether they have guessed it.
      const hasGuardrails = (input.file.get('guardrails')?.size ?? 0) > 0;
      const mayReplace =
        caller.scopes.has('relay:providers:manage') &&
        (!hasGuardrails || caller.scopes.has('relay:guardrails:manage'));
      const secrets = mayReplace ? (body.secrets ?? {}) : {};
      const given = { sealer: deps.sealer, organizationId, secrets, toProvide, toEnterAgain };
      const changes = withSecrets(input, plan, given);
      return toConfigPlan({
        plan,
        changes,
        toProvide,
        secrets: secretStates(input, given),
        isApplied: false,
      });
    },
    applyConfig: (call) => applyConfigFile(deps, call, call.body),
  };
}

interface Prepared {
  readonly input: PlanInput;
  readonly plan: Plan;
  readonly toProvide: readonly HeldItem[];
  readonly toEnterAgain: ReadonlySet<string>;
}

/** Checks the file before any query, and gives what makes and judges the plan. */
function prepared(
  deps: ConfigFileDeps,
  request: ConfigPlanRequest,
): (db: Kysely<Database>, organizationId: string) => Promise<Prepared> {
  const orphans = orphansOf(request);
  const sections = sectionsOf(deps.deployment);
  const file = readFile(request.config, sections, deps);
  return async (db, organizationId) => {
    const stored = await readConfiguration(db, organizationId, sections);
    const input = { sections, stored, file, orphans, newId: deps.newId };
    const plan = await withDefaultPrices(deps, input, makePlan(input));
    judgePlan(input, plan);
    await demandRoomForPlan(db, organizationId, input, plan);
    const toEnterAgain = secretsToEnterAgain(input, plan);
    return { input, plan, toEnterAgain, toProvide: itemsToProvide(input, toEnterAgain) };
  };
}

/** All of the file or nothing of it: every change, its audit entry and one new version commit together. */
export async function applyConfigFile(
  deps: ConfigFileDeps,
  { caller, requestId }: Applying,
  request: ConfigApplyRequest,
): Promise<ConfigPlan> {
  const { organizationId } = caller;
  const prepare = prepared(deps, request);
  const done = await deps
    .ofOrganization(organizationId)
    .transaction()
    .execute(async (tx) => {
      await lockConfiguration(tx, organizationId, 'alone');
      const { input, plan, toProvide, toEnterAgain } = await prepare(tx, organizationId);
      demandSamePlan(request, plan);
      const { sealer } = deps;
      const secrets = request.secrets ?? {};
      const given = { sealer, organizationId, secrets, toProvide, toEnterAgain };
      demandProvided(given);
      const states = secretStates(input, given);
      const changes = withSecrets(input, plan, given);
      demandGuardrailScope(caller, input, changes);
      const version =
        changes.length === 0 ? null : await commitChanges(deps, tx, { caller, requestId }, input, changes);
      const answer = toConfigPlan({ plan, changes, toProvide, secrets: states, isApplied: true });
      const fence = await guardrailFence(tx, organizationId, input, changes, version);
      return { version, fence, answer };
    });
  if (done.fence !== null) await deps.fences.raise(organizationId, done.fence);
  if (done.version !== null) await deps.snapshots.refreshNow(organizationId);
  return done.answer;
}

async function commitChanges(
  deps: ConfigFileDeps,
  tx: Transaction<Database>,
  { caller, requestId }: Applying,
  { sections }: PlanInput,
  changes: readonly Change[],
): Promise<number> {
  const after = await writeChanges(tx, caller.organizationId, sections, changes);
  const entries = changes.map(({ action, section, id, stored }) => {
    const written = after.get(id);
    return {
      id: deps.newId(),
      caller,
      requestId,
      action: `${section.kind}.${action === 'release' ? 'update' : action}`,
      targetType: section.kind,
      targetId: id,
      before: stored === null ? null : auditedRow(section.table, stored.row),
      after: written === undefined ? null : auditedRow(section.table, written),
    };
  });
  await appendAudits(tx, entries);
  return bumpConfigVersion(tx, caller.organizationId);
}

function orphansOf({ prune = false, release = false }: ConfigPlanRequest): Orphans {
  if (prune && release) {
    throw invalidField('release', 'prune and release contradict one another. Send one of them.');
  }
  if (prune) return 'delete';
  return release ? 'release' : 'keep';
}

function demandSamePlan({ plan_hash }: ConfigApplyRequest, plan: Plan): void {
  if (plan_hash === undefined || plan_hash === planHash(plan)) return;
  throw new RelayError('version_conflict', {
    param: 'plan_hash',
    message:
      'The configuration or the file has changed since the plan was made, and applying would do something else. Plan again and look at the changes.',
  });
}
