import {
  firstPlace,
  guardrailPlace,
  nextPlace,
  placeOf,
  type SecretPlace,
} from '../credentials/sealed-secret.ts';
import type { Row } from '../owned-rows.ts';
import type { StoredItem } from './configuration.ts';
import type { Ids, PlanInput } from './make-plan.ts';
import type { FileItem } from './read-file.ts';
import { credentialSection } from './sections/credentials.ts';
import { guardrailSection } from './sections/guardrails.ts';
import type { Section } from './sections/section.ts';

/** A kind of resource that has a secret, and what the secret is sealed to. */
export interface SecretHolder {
  readonly section: Section;
  /** For an item that is not stored yet. */
  first(organizationId: string, ids: Ids, item: FileItem): SecretPlace;
  now(stored: StoredItem): SecretPlace;
  next(stored: StoredItem): SecretPlace;
}

const credentialOf = ({ row }: StoredItem) => row as Row<'credentials'>;
const guardrailOf = ({ row }: StoredItem) => row as Row<'guardrails'>;

const secretHolders: readonly SecretHolder[] = [
  {
    section: credentialSection,
    first: (organizationId, ids, { entry }) =>
      firstPlace(organizationId, ids('providers', String(entry['provider']))),
    now: (stored) => placeOf(credentialOf(stored)),
    next: (stored) => nextPlace(credentialOf(stored)),
  },
  {
    section: guardrailSection,
    first: (organizationId, ids, { key }) => firstPlace(organizationId, ids('guardrails', key)),
    now: (stored) => guardrailPlace(guardrailOf(stored)),
    next: (stored) => guardrailPlace(guardrailOf(stored), guardrailOf(stored).secret_version + 1),
  },
];

/** An item of the file that may have a secret, with what is stored of it. */
export interface HeldItem {
  readonly holder: SecretHolder;
  readonly item: FileItem;
  readonly stored: StoredItem | null;
  /** Where its secret is found; null when it has none. */
  readonly ref: string | null;
}

export function heldItems(input: PlanInput): HeldItem[] {
  return secretHolders.flatMap((holder) => {
    const { name } = holder.section;
    return [...(input.file.get(name)?.values() ?? [])].map((item) => ({
      holder,
      item,
      stored: input.stored.get(name)?.get(item.key) ?? null,
      ref: item.entry['secret_ref'] as string | null,
    }));
  });
}

export function sealedSecretOf({ row }: StoredItem): Buffer | null {
  return (row as Row<'guardrails'>).sealed_secret;
}
