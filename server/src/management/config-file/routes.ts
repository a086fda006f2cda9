import type { ConfigApplyRequest, ConfigPlan, ConfigPlanRequest } from '@relay/contract';
import type { Kysely } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { sectionsOf } from '../registry/derived.ts';
import { recordedDeletions } from '../resources/dependents.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { nameTaken } from '../resources/name-changes.ts';
import { invalidField } from '../resources/refusals.ts';
import { type WrittenBy, writeConfiguration } from '../resources/write-configuration.ts';
import { readConfiguration, readConfigurationAtOnce } from './configuration.ts';
import { withDefaultPrices, withoutDefaultPrices } from './default-prices.ts';
import { exportFile } from './export-file.ts';
import { judgePlan, secretsToEnterAgain } from './judge-plan.ts';
import { makePlan, type Orphans, type Plan, type PlanInput } from './make-plan.ts';
import { demandNamedScopes, isFenced, mayReplaceSecrets } from './named-scopes.ts';
import { nameChangesIn } from './plan-names.ts';
import { demandRoomForPlan } from './plan-room.ts';
import { planHash, toConfigPlan } from './plan-wire.ts';
import { readFile } from './read-file.ts';
import type { HeldItem } from './secret-holders.ts';
import { demandProvided, itemsToProvide, secretStates, withSecrets } from './secrets.ts';
import { takenByPlan } from './taken-limits.ts';
import { writeChanges } from './write-changes.ts';

export type ConfigFileDeps = Pick<
  ManagementDeps,
  'ofOrganization' | 'snapshots' | 'sealer' | 'egress' | 'newId' | 'deployment' | 'fences' | 'clock'
>;

/**
 * Export, plan and apply of the configuration file. Resources that the file names become read-only elsewhere.
 */
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
      const { input, plan, toProvide, toEnterAgain, taken } = await deps
        .ofOrganization(organizationId)
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (tx) => {
          const made = await prepare(tx, organizationId);
          return { ...made, taken: await takenByPlan(tx, organizationId, made.plan) };
        });
      // A caller who may not replace secrets must not learn whether a guessed secret equals the stored one.
      const secrets = mayReplaceSecrets(caller, input) ? (body.secrets ?? {}) : {};
      const given = { sealer: deps.sealer, organizationId, secrets, toProvide, toEnterAgain };
      const changes = withSecrets(input, plan, given);
      return toConfigPlan({
        plan,
        changes,
        toProvide,
        secrets: secretStates(input, given),
        nameChanges: nameChangesIn(input, plan),
        taken,
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

/** Validates the file before the first query, and returns a function that makes and checks the plan. */
export function prepared(
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

/** Commits all changes, their audit entries and one new version together, or nothing. */
export async function applyConfigFile(
  deps: ConfigFileDeps,
  by: WrittenBy,
  request: ConfigApplyRequest,
): Promise<ConfigPlan> {
  const { organizationId } = by.caller;
  const prepare = prepared(deps, request);
  return writeConfiguration(deps, by, 'alone', async (tx) => {
    const { input, plan, toProvide, toEnterAgain } = await prepare(tx, organizationId);
    demandSamePlan(request, plan);
    const nameChanges = nameChangesIn(input, plan);
    if (request.takes_over !== true && nameChanges[0] !== undefined) throw nameTaken(nameChanges[0], null);
    const { sealer } = deps;
    const given = { sealer, organizationId, secrets: request.secrets ?? {}, toProvide, toEnterAgain };
    demandProvided(given);
    const secrets = secretStates(input, given);
    const changes = withSecrets(input, plan, given);
    demandNamedScopes(by.caller, input, changes);
    const taken = await takenByPlan(tx, organizationId, plan);
    return {
      result: toConfigPlan({ plan, changes, toProvide, secrets, nameChanges, taken, isApplied: true }),
      changes: [
        ...(await writeChanges(tx, organizationId, input.sections, changes)),
        ...recordedDeletions(taken),
      ],
      isFenced: isFenced(input, changes),
    };
  });
}

function orphansOf({ prune = false, release = false }: ConfigPlanRequest): Orphans {
  if (prune && release) {
    throw invalidField('release', 'prune and release can’t be combined. Send one of them.');
  }
  if (prune) return 'delete';
  return release ? 'release' : 'keep';
}

function demandSamePlan({ plan_hash }: ConfigApplyRequest, plan: Plan): void {
  if (plan_hash === undefined || plan_hash === planHash(plan)) return;
  throw new RelayError('version_conflict', {
    param: 'plan_hash',
    message: 'The configuration or the file has changed since this plan. Create a new plan and review it.',
  });
}
