import type { LimitPolicyCreate, LimitPolicyUpdate } from '@relay/contract';
import { sql, type Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import type { Database, tables } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { conflict } from '../resources/refusals.ts';
import type { Row } from '../resources/rows.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { demandEnforcement } from './enforcement.ts';
import { alertColumns } from './limit-alerts.ts';
import { demandWindow } from './limit-window.ts';
import { toLimitPolicy } from './policy-wire.ts';
import { heldScope } from './scope.ts';

/** Resource limit policies are for self-hosted deployments; hosted ones have user and key budgets instead. */
export function limitPolicyHandlers(
  deps: ManagementDeps,
  writes: ResourceWrites<typeof tables.limit_policies>,
): Handlers {
  function demandSelfHosted(): void {
    if (deps.deployment.mode !== 'hosted') return;
    throw new RelayError('mode_unsupported', {
      message: 'Shared limits are for self-hosted deployments. Use member, team or key limits instead.',
    });
  }

  return {
    async listLimitPolicies(call) {
      demandSelfHosted();
      return (await writes.list(call, 'listLimitPolicies')).map(toLimitPolicy);
    },
    async getLimitPolicy(call) {
      demandSelfHosted();
      return toLimitPolicy(await writes.read(call, call.params.policy_id));
    },
    async createLimitPolicy(call) {
      demandSelfHosted();
      const { body } = call;
      demandWindow(body);
      demandEnforcement(body);
      const row = await writes.create(call, async ({ tx, organizationId }, id) => {
        const scope = await heldScope(tx, organizationId, {
          scope_type: body.scope_type,
          scope_id: body.scope_id ?? null,
        });
        await demandNoTwin(tx, organizationId, { id, ...scope, ...body });
        const inserted = await writes.rows.insert(tx, organizationId, {
          id,
          ...scope,
          ...limitOf(body),
        });
        if (inserted !== undefined) return inserted;
        throw new RelayError('internal_error', { internal: `limit policy ${id} already exists` });
      });
      return toLimitPolicy(row);
    },
    async updateLimitPolicy(call) {
      demandSelfHosted();
      const { body } = call;
      demandWindow(body);
      const row = await writes.update(call, call.params.policy_id, async ({ tx, organizationId }, before) => {
        demandEnforcement(body, before);
        // An omitted id keeps the scope, unless its type changes: the old id then belongs to another kind of
        // resource.
        const keptId = body.scope_type === before.scope_type ? before.scope_id : null;
        const scope = await heldScope(tx, organizationId, {
          scope_type: body.scope_type,
          scope_id: body.scope_id === undefined ? keptId : body.scope_id,
        });
        // Equal limits of an earlier version or of the configuration file stay, and can change in all but this.
        const { metric, period, limit_value } = body;
        const wanted = { ...before, ...scope, metric, period, limit_value };
        if (!isTwin(wanted, before)) await demandNoTwin(tx, organizationId, wanted);
        return { ...scope, ...limitOf(body) };
      });
      return toLimitPolicy(row);
    },
    async deleteLimitPolicy(call) {
      demandSelfHosted();
      return writes.remove(call, call.params.policy_id);
    },
  };
}

/** What makes two limits the same limit. */
type Rule = Pick<Row<'limit_policies'>, 'scope_type' | 'scope_id' | 'metric' | 'period' | 'limit_value'>;

const RULE = ['scope_type', 'scope_id', 'metric', 'period', 'limit_value'] as const;

function isTwin(one: Rule, other: Rule): boolean {
  return RULE.every((field) => one[field] === other[field]);
}

/** The second of two equal limits would change nothing, and only hide which one to change. */
async function demandNoTwin(
  tx: Transaction<Database>,
  organizationId: string,
  wanted: Rule & { readonly id: string },
): Promise<void> {
  // A limit on everything has no row of its own to lock.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`limit_policies ${organizationId}`}, 0))`.execute(
    tx,
  );
  const twin = await tx
    .selectFrom('limit_policies')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('scope_type', '=', wanted.scope_type)
    .where('scope_id', 'is not distinct from', wanted.scope_id)
    .where('metric', '=', wanted.metric)
    .where('period', '=', wanted.period)
    .where('limit_value', '=', wanted.limit_value)
    .where('id', '!=', wanted.id)
    .executeTakeFirst();
  if (twin === undefined) return;
  throw conflict(
    null,
    `The same shared limit already exists: scope, metric, period and value are equal. Use it, or change it with PUT /api/relay/limit-policies/${twin.id}.`,
  );
}

function limitOf(body: LimitPolicyCreate | LimitPolicyUpdate) {
  return {
    metric: body.metric,
    period: body.period,
    limit_value: body.limit_value,
    unpriced: body.unpriced,
    enforcement: body.enforcement,
    enabled: body.enabled,
    ...alertColumns(body),
  };
}
