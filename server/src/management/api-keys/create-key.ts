import { type ApiKey, headers } from '@relay/contract';
import type { Transaction } from 'kysely';
import { digestOfKey, mintApiKey } from '../../domain/api-key.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { actorOf, auditedRow } from '../resources/audited-row.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { entityTag } from '../resources/entity-tag.ts';
import { demandRoom } from '../resources/plan-counts.ts';
import { storedTable } from '../resources/rows.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import { heldTeam } from './attribution.ts';
import { insertKey, type KeyRow, keyCount } from './queries.ts';
import type { RequestedKey } from './requested-key.ts';
import type { Standing } from './standing.ts';
import { toApiKey } from './wire.ts';

export type CreateKeyDeps = Pick<
  ManagementDeps,
  'ofOrganization' | 'newId' | 'clock' | 'keyPepper' | 'randomBytes'
>;

/** Public ids are random in a space of 2^56, so this many collisions in a row indicate a bug. */
const MINTS_MAX = 5;

/**
 * Creates a key and its audit entry, and returns the secret, which is shown only here. `ownerOf` finds the
 * owner and throws when the caller may not create this key for them. Gateways look up unknown keys, so the
 * configuration version does not change.
 */
export async function createKey(
  deps: CreateKeyDeps,
  call: WriteCall,
  wanted: RequestedKey,
  ownerOf: (tx: Transaction<Database>) => Promise<Standing>,
): Promise<{ api_key: string; key: ApiKey }> {
  const { organizationId } = call.caller;
  const nowMs = deps.clock.nowMs();
  const created = await deps
    .ofOrganization(organizationId)
    .transaction()
    .execute(async (tx) => {
      const { userId } = await ownerOf(tx);
      await demandRoom(tx, organizationId, keyCount);
      const minted = await insertMinted(deps, tx, {
        organization_id: organizationId,
        id: deps.newId(),
        user_id: userId,
        name: wanted.name,
        scopes: [...wanted.scopes],
        expires_at: wanted.expiresAt,
        team_id: await heldTeam(tx, call.caller, { ownerId: userId, teamId: null }, wanted.teamId),
        labels: JSON.stringify(wanted.labels),
      });
      await appendAudit(tx, {
        id: deps.newId(),
        organizationId: call.caller.organizationId,
        actor: actorOf(call.caller),
        requestId: call.requestId,
        action: 'api_key.create',
        targetType: 'api_key',
        targetId: minted.row.id,
        before: null,
        after: auditedRow(storedTable('api_keys'), minted.row),
      });
      return minted;
    });
  call.setHeader(headers.etag, entityTag(created.row));
  return { api_key: created.secret, key: toApiKey(created.row, nowMs) };
}

type NewKey = Omit<Parameters<typeof insertKey>[1], 'public_id' | 'secret_hmac'>;

async function insertMinted(
  deps: CreateKeyDeps,
  tx: Transaction<Database>,
  row: NewKey,
): Promise<{ secret: string; row: KeyRow }> {
  for (let mint = 0; mint < MINTS_MAX; mint += 1) {
    const { key: secret, publicId } = mintApiKey(deps.randomBytes);
    const secret_hmac = digestOfKey(deps.keyPepper(), secret);
    const inserted = await insertKey(tx, { ...row, public_id: publicId, secret_hmac });
    if (inserted !== undefined) return { secret, row: inserted };
  }
  throw new RelayError('internal_error', { internal: `${MINTS_MAX} generated key IDs were all taken` });
}
