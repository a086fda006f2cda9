import type { Transaction } from 'kysely';
import { type Guardrail, inOrder } from '../../domain/guardrails/guardrail.ts';
import type { Sealer } from '../../kit/seal.ts';
import type { Secret } from '../../kit/secret.ts';
import type { Database } from '../postgres/schema.ts';
import type { StoreLog } from '../store-log.ts';
import { type GuardrailRow, guardrailSettings } from './guardrail-settings.ts';
import { secretBinding } from './secret-binding.ts';

interface GuardrailSource {
  readonly sealer: Sealer;
  readonly log: StoreLog;
}

/** Enabled guardrails with an enabled binding, in the order they are called. */
export async function readGuardrails(
  source: GuardrailSource,
  tx: Transaction<Database>,
  organizationId: string,
): Promise<readonly Guardrail[]> {
  const rows = await tx
    .selectFrom('guardrails')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('enabled', '=', true)
    .execute();
  if (rows.length === 0) return [];
  const bindings = await tx
    .selectFrom('guardrail_bindings')
    .select(['guardrail_id', 'target_type', 'target_id'])
    .where('organization_id', '=', organizationId)
    .where('enabled', '=', true)
    .orderBy('id')
    .execute();
  const byGuardrail = Map.groupBy(bindings, ({ guardrail_id }) => guardrail_id);
  return inOrder(
    rows.flatMap((row) => {
      const bound = byGuardrail.get(row.id);
      if (bound === undefined) return [];
      const targets = bound.map((each) => ({ targetType: each.target_type, targetId: each.target_id }));
      return [{ ...guardrailSettings(row, openSecret(source, row)), bindings: targets }];
    }),
  );
}

/** One unreadable secret must not fail the whole organization: only requests that need it fail. */
function openSecret({ sealer, log }: GuardrailSource, row: GuardrailRow): Secret | null {
  if (row.sealed_secret === null) return null;
  const binding = secretBinding({
    organizationId: row.organization_id,
    ownerId: row.id,
    secretVersion: row.secret_version,
  });
  try {
    return sealer.open(row.sealed_secret, binding);
  } catch (error) {
    const fields = { organization_id: row.organization_id, guardrail_id: row.id, key_id: row.key_id };
    log.warn(
      { err: error, ...fields },
      'cannot decrypt a guardrail’s secret with the configured master keys',
    );
    return null;
  }
}
