import type { Labels } from '@relay/contract';
import { countWords } from '@relay/contract/words';
import type { Transaction } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { heldReference } from '../resources/reference.ts';
import { invalidField } from '../resources/refusals.ts';

/** What a body says about the team and labels of a key; what it leaves out stays. */
export interface WantedAttribution {
  readonly team_id?: string | null;
  readonly labels?: Labels;
}

const LABELS_MAX = 8;
const LABEL_NAME = /^[a-z0-9_.-]{1,32}$/;
const VALUE_CHARACTERS_MAX = 64;
const CONTROL_CHARACTERS = /\p{C}/u;
/** Sums are stored by the text of all labels, which is part of an index. */
const LABELS_BYTES_MAX = 1_000;

/** Throws 400 for labels that cannot be stored, and names the wrong one. */
export function demandLabels(labels: Labels | undefined): void {
  if (labels === undefined) return;
  const entries = Object.entries(labels);
  if (entries.length > LABELS_MAX)
    throw invalidField('labels', `labels must have at most ${LABELS_MAX} entries.`);
  for (const [name, value] of entries) {
    if (!LABEL_NAME.test(name)) {
      throw invalidField(
        'labels',
        `labels: ${JSON.stringify(name.slice(0, VALUE_CHARACTERS_MAX))} is not a valid label name. Use 1 to 32 characters from a–z, 0–9, "_", "." and "-".`,
      );
    }
    if (value === '' || value.length > VALUE_CHARACTERS_MAX || CONTROL_CHARACTERS.test(value)) {
      throw invalidField(
        `labels.${name}`,
        `labels.${name} must have 1 to ${VALUE_CHARACTERS_MAX} printable characters.`,
      );
    }
  }
  if (Buffer.byteLength(JSON.stringify(labels)) > LABELS_BYTES_MAX)
    throw invalidField('labels', `labels must have at most ${countWords(LABELS_BYTES_MAX)} bytes in total.`);
}

/**
 * The team for a key, which cannot be deleted until commit. Only who manages limits may choose another team than the owner's:
 * otherwise a member could spend another team's budget, or leave their own.
 */
export async function heldTeam(
  tx: Transaction<Database>,
  caller: Caller,
  key: { readonly ownerId: string; readonly teamId: string | null },
  wanted: string | null,
): Promise<string | null> {
  if (wanted === key.teamId) return wanted;
  const { organizationId } = caller;
  if (!caller.scopes.has('relay:limits:manage')) {
    const ownTeamId = key.teamId === null ? await teamOfMember(tx, organizationId, key.ownerId) : null;
    if (wanted?.toLowerCase() !== ownTeamId) {
      throw new RelayError('permission_denied', {
        message:
          'Choosing a key’s team requires relay:limits:manage. Omit team_id to put the key in its owner’s team.',
        param: 'team_id',
      });
    }
  }
  if (wanted === null) return null;
  const named = { param: 'team_id', kind: 'team', id: wanted };
  return (await heldReference(tx, 'teams', organizationId, named)).id;
}

async function teamOfMember(
  tx: Transaction<Database>,
  organizationId: string,
  userId: string,
): Promise<string | null> {
  const member = await tx
    .selectFrom('organization_members')
    .select('team_id')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return member?.team_id ?? null;
}
