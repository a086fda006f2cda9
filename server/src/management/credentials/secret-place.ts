import type { Row } from '../resources/rows.ts';
import type { SecretPlace } from '../resources/sealed-secret.ts';

/** A credential's secret is sealed to its provider. */
export function placeOf(row: Row<'credentials'>): SecretPlace {
  return {
    organizationId: row.organization_id,
    ownerId: row.provider_id,
    secretVersion: row.secret_version,
  };
}
