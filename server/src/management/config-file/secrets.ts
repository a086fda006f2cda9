import { timingSafeEqual } from 'node:crypto';
import type { RelayError } from '../../domain/relay-error.ts';
import { type Sealer, UnsealError } from '../../kit/seal.ts';
import { secretBinding } from '../../store/secret-binding.ts';
import {
  demandSendable,
  firstPlace,
  nextPlace,
  placeOf,
  sealedSecret,
} from '../credentials/sealed-secret.ts';
import type { Row } from '../owned-rows.ts';
import { invalidField } from '../refusals.ts';
import type { Change, Ids, Plan, PlanInput } from './make-plan.ts';
import type { FileItem } from './read-file.ts';
import { credentialSection } from './sections/credentials.ts';

/** The secrets an apply carries, by their references. */
export type Secrets = Readonly<Record<string, string>>;

/** The credentials whose secret an apply has to carry: it is not stored, or stored for something else. */
export function credentialsToProvide(input: PlanInput, toEnterAgain: ReadonlySet<string>): FileItem[] {
  const stored = input.stored.get('credentials');
  return [...(input.file.get('credentials')?.values() ?? [])].filter((item) => {
    const known = stored?.get(item.key);
    if (known === undefined || toEnterAgain.has(item.key)) return true;
    // One that was entered by hand has no reference, and keeps its secret when it gets one.
    const refBefore = known.entry['secret_ref'];
    return refBefore !== null && refBefore !== item.entry['secret_ref'];
  });
}

export interface SecretInput {
  readonly sealer: Sealer;
  readonly organizationId: string;
  readonly secrets: Secrets;
  readonly toProvide: readonly FileItem[];
  readonly toEnterAgain: ReadonlySet<string>;
}

/** The changes of a plan with the secrets that are new sealed into them. */
export function withSecrets(input: PlanInput, plan: Plan, given: SecretInput): readonly Change[] {
  demandKnown(input, given.secrets);
  const missing = given.toProvide.find((item) => secretOf(given.secrets, item) === undefined);
  if (missing !== undefined) throw notGiven(missing);
  const changes = new Map(plan.changes.map((change) => [change.id, change]));
  for (const item of input.file.get('credentials')?.values() ?? []) {
    const secret = secretOf(given.secrets, item);
    if (secret === undefined) continue;
    const id = plan.ids('credentials', item.key);
    const changed = replaced(input, plan.ids, given, item, secret, changes.get(id));
    if (changed !== undefined) changes.set(id, changed);
  }
  return [...changes.values()];
}

function replaced(
  input: PlanInput,
  ids: Ids,
  { sealer, organizationId, toEnterAgain }: SecretInput,
  item: FileItem,
  secret: string,
  change: Change | undefined,
): Change | undefined {
  const stored = input.stored.get('credentials')?.get(item.key) ?? null;
  if (stored === null) {
    const place = firstPlace(organizationId, ids('providers', String(item.entry['provider'])));
    return change && { ...change, columns: { ...change.columns, ...sealedSecret(sealer, place, secret) } };
  }
  const row = stored.row as Row<'credentials'>;
  if (!toEnterAgain.has(item.key) && isStored(sealer, row, secret)) return change;
  const sealed = sealedSecret(sealer, nextPlace(row), secret);
  return {
    action: 'update',
    section: credentialSection,
    key: item.key,
    id: row.id,
    fields: [...(change?.fields ?? []), { field: 'secret', before: '[stored]', after: '[replaced]' }],
    stored,
    item,
    columns: { ...change?.columns, ...sealed },
  };
}

/** A secret that no longer opens is as good as none. */
function isStored(sealer: Sealer, row: Row<'credentials'>, secret: string): boolean {
  try {
    const known = Buffer.from(sealer.open(row.sealed_secret, secretBinding(placeOf(row))).reveal());
    const given = Buffer.from(secret);
    return known.length === given.length && timingSafeEqual(known, given);
  } catch (error) {
    if (error instanceof UnsealError) return false;
    throw error;
  }
}

function secretOf(secrets: Secrets, item: FileItem): string | undefined {
  const ref = String(item.entry['secret_ref']);
  return Object.hasOwn(secrets, ref) ? secrets[ref] : undefined;
}

/** A secret that nothing asks for is a slip; passing over it would leave the wrong one in use. */
function demandKnown(input: PlanInput, secrets: Secrets): void {
  const items = [...(input.file.get('credentials')?.values() ?? [])];
  const asked = new Set(items.map(({ entry }) => entry['secret_ref']));
  for (const [ref, secret] of Object.entries(secrets)) {
    if (!asked.has(ref)) {
      throw invalidField(
        'secrets',
        `secrets has "${ref.slice(0, 100)}", which no credential of the file refers to. Leave it out, or correct its name.`,
      );
    }
    demandSendable(`secrets["${ref}"]`, secret);
  }
}

function notGiven(item: FileItem): RelayError {
  const ref = String(item.entry['secret_ref']);
  return invalidField(
    `${item.path}.secret_ref`,
    `The credential "${item.key}" needs the secret ${ref}, and the apply does not carry it. Make ${ref} available where the file is applied.`,
  );
}
