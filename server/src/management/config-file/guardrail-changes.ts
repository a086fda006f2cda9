import type { Transaction } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { scopeRefusal } from '../../http/scope-refusal.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Change, PlanInput } from './make-plan.ts';
import type { SectionName } from './sections/section.ts';

const SECTIONS: readonly SectionName[] = ['guardrails', 'guardrail_bindings'];
const SCOPE = 'relay:guardrails:manage';

/** A plan may withhold guardrails: then a file is applied all the same, as long as it has nothing to do with them. */
export function demandGuardrailScope(caller: Caller, input: PlanInput, changes: readonly Change[]): void {
  if (caller.scopes.has(SCOPE)) return;
  if (namesGuardrails(input) || changesGuardrails(changes)) throw scopeRefusal(caller, [SCOPE]);
}

/**
 * The version that the fence is raised to before the apply is answered; null when it has nothing to do with guardrails. An
 * apply that changes nothing may be the repetition of one whose fence could not be raised.
 */
export async function guardrailFence(
  tx: Transaction<Database>,
  organizationId: string,
  input: PlanInput,
  changes: readonly Change[],
  version: number | null,
): Promise<number | null> {
  if (version !== null) return changesGuardrails(changes) ? version : null;
  if (!namesGuardrails(input)) return null;
  const organization = await tx
    .selectFrom('organizations')
    .select('config_version')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return organization.config_version;
}

function namesGuardrails({ file }: PlanInput): boolean {
  return SECTIONS.some((section) => (file.get(section)?.size ?? 0) > 0);
}

function changesGuardrails(changes: readonly Change[]): boolean {
  return changes.some(({ section }) => SECTIONS.includes(section.name));
}
