import type { Row } from '../resources/rows.ts';
import type { SecretPlace } from '../resources/sealed-secret.ts';

/** A guardrail's one secret is sealed to the guardrail. */
export function placeOf(row: Row<'guardrails'>): SecretPlace {
  return { organizationId: row.organization_id, ownerId: row.id, secretVersion: row.secret_version };
}
