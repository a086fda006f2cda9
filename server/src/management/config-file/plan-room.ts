import type { Kysely } from 'kysely';
import { isPlanName, plans } from '../../domain/access.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Plan, PlanInput } from './make-plan.ts';

/**
 * Rejects a file that creates more resources than the organization's plan allows, as the routes of the
 * resources do.
 */
export async function demandRoomForPlan(
  db: Kysely<Database>,
  organizationId: string,
  input: PlanInput,
  { changes }: Plan,
): Promise<void> {
  const organization = await db
    .selectFrom('organizations')
    .select('plan')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const plan = isPlanName(organization.plan) ? organization.plan : 'closed';
  for (const { name, counted } of input.sections) {
    if (counted === null) continue;
    const countMax = plans[plan].counts[counted];
    const own = changes.filter(({ section }) => section.name === name);
    const created = own.filter(({ action }) => action === 'create').length;
    const deleted = own.filter(({ action }) => action === 'delete').length;
    const afterwards = (input.stored.get(name)?.size ?? 0) + created - deleted;
    if (countMax === null || created === 0 || afterwards <= countMax) continue;
    throw new RelayError('entitlement_missing', {
      param: counted,
      message: `The plan "${plan}" allows ${countMax} ${counted}, and with this file there would be ${afterwards}. Remove some from the file, or change the plan.`,
      fields: { plan, counted, limit: countMax },
    });
  }
}
