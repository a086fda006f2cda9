import { timingSafeEqual } from 'node:crypto';
import type { ConfigPlan } from '@relay/contract';
import type { RelayError } from '../../domain/relay-error.ts';
import type { AuthMode } from '../../domain/upstream-auth.ts';
import { type Sealer, UnsealError } from '../../kit/seal.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import { invalidField } from '../resources/refusals.ts';
import type { Values } from '../resources/rows.ts';
import { demandUsable, nextPlace, sealedSecret } from '../resources/sealed-secret.ts';
import type { StoredSecret } from '../resources/section.ts';
import type { Change, Plan, PlanInput } from './make-plan.ts';
import { type HeldItem, heldItems } from './secret-holders.ts';

/** The secrets that an apply carries, by reference. */
export type Secrets = Readonly<Record<string, string>>;

/**
 * Items whose secret the apply must carry: none is stored, its reference changed, or it was entered for another
 * origin.
 */
export function itemsToProvide(input: PlanInput, toEnterAgain: ReadonlySet<string>): HeldItem[] {
  return heldItems(input).filter(({ stored, ref }) => {
    if (ref === null) return false;
    if (stored === null || (stored.secret?.sealed ?? null) === null || toEnterAgain.has(stored.row.id))
      return true;
    // A secret entered by hand has no reference. It stays valid when the file adds one.
    const refBefore = stored.entry['secret_ref'] ?? null;
    return refBefore !== null && refBefore !== ref;
  });
}

export interface SecretInput {
  readonly sealer: Sealer;
  readonly organizationId: string;
  readonly secrets: Secrets;
  readonly toProvide: readonly HeldItem[];
  /** Ids of items whose stored secret was entered for another origin. */
  readonly toEnterAgain: ReadonlySet<string>;
}

/**
 * The plan's changes, with new secrets sealed into them and secrets removed where the item no longer has a
 * reference.
 */
export function withSecrets(input: PlanInput, plan: Plan, given: SecretInput): readonly Change[] {
  const held = heldItems(input);
  demandKnown(input, held, given.secrets);
  const changes = new Map(plan.changes.map((change) => [change.id, change]));
  for (const one of held) {
    const id = plan.ids(one.section.name, one.item.key);
    const changed = changeOf(plan, given, one, changes.get(id));
    if (changed !== undefined) changes.set(id, changed);
  }
  return [...changes.values()];
}

/** Only an apply must carry all required secrets; a plan can be made without them. */
export function demandProvided({ toProvide, secrets }: SecretInput): void {
  const missing = toProvide.find(({ ref }) => secretOf(secrets, ref) === undefined);
  if (missing !== undefined) throw notGiven(missing);
}

/** For each secret of the file: whether the apply would change it, or unknown if the secret was not sent. */
export function secretStates(input: PlanInput, given: SecretInput): ConfigPlan['secrets'] {
  return heldItems(input).flatMap((held) => {
    if (held.ref === null) return [];
    const { section, item, ref } = held;
    return [{ section: section.name, key: item.key, secret_ref: ref, state: stateOf(given, held) }];
  });
}

function stateOf(given: SecretInput, { stored, ref }: HeldItem): 'changed' | 'unchanged' | 'unknown' {
  const secret = secretOf(given.secrets, ref);
  if (secret === undefined) return 'unknown';
  if (stored === null || given.toEnterAgain.has(stored.row.id)) return 'changed';
  return isStored(given.sealer, stored.secret, secret) ? 'unchanged' : 'changed';
}

function changeOf(
  plan: Plan,
  given: SecretInput,
  { section, item, stored, ref }: HeldItem,
  change: Change | undefined,
): Change | undefined {
  const { sealer, organizationId, toEnterAgain, secrets } = given;
  const secret = secretOf(secrets, ref);
  if (stored === null) {
    if (secret === undefined || change === undefined || section.firstPlace === null) return change;
    const place = section.firstPlace(organizationId, change.id, item.entry, plan.ids);
    const sealed = sealedSecret(sealer, place, secret);
    return { ...change, columns: { ...change.columns, ...sealed } };
  }
  const { secret: held } = stored;
  if (held === null) return change;
  const again = toEnterAgain.has(stored.row.id);
  const replaced = (after: string, columns: Values): Change => ({
    action: 'update',
    section,
    key: item.key,
    id: stored.row.id,
    fields: [...(change?.fields ?? []), { field: 'secret', before: '[stored]', after }],
    stored,
    item,
    columns: { ...change?.columns, ...columns },
  });
  if (ref === null) {
    const isNamed = stored.entry['secret_ref'] !== null;
    if (held.sealed === null || !(isNamed || again)) return change;
    const { secretVersion } = nextPlace(held.place);
    return replaced('[removed]', { sealed_secret: null, key_id: null, secret_version: secretVersion });
  }
  if (secret === undefined || (!again && isStored(sealer, held, secret))) return change;
  return replaced('[replaced]', sealedSecret(sealer, nextPlace(held.place), secret));
}

/** A stored secret that cannot be opened counts as missing. */
function isStored(sealer: Sealer, stored: StoredSecret | null, secret: string): boolean {
  if (stored === null || stored.sealed === null) return false;
  try {
    const known = Buffer.from(sealer.open(stored.sealed, secretBinding(stored.place)).reveal());
    const given = Buffer.from(secret);
    return known.length === given.length && timingSafeEqual(known, given);
  } catch (error) {
    if (error instanceof UnsealError) return false;
    throw error;
  }
}

function secretOf(secrets: Secrets, ref: string | null): string | undefined {
  return ref !== null && Object.hasOwn(secrets, ref) ? secrets[ref] : undefined;
}

/**
 * Rejects a secret that no item refers to: it is a mistake, and ignoring it would leave the old secret in use.
 */
function demandKnown(input: PlanInput, held: readonly HeldItem[], secrets: Secrets): void {
  const asked = Map.groupBy(held, ({ ref }) => ref);
  for (const [ref, secret] of Object.entries(secrets)) {
    const holders = asked.get(ref);
    if (holders === undefined) {
      throw invalidField(
        'secrets',
        `secrets has "${ref.slice(0, 100)}", which no credential or guardrail in the file refers to. Omit it, or correct its name.`,
      );
    }
    for (const holder of holders) demandUsable(`secrets["${ref}"]`, secret, authModeOf(input, holder));
  }
}

/** A guardrail has its own; a credential is used as its provider says, which may not be in the file. */
function authModeOf(input: PlanInput, { item: { entry } }: HeldItem): AuthMode {
  const key = entry['provider'];
  if (typeof key !== 'string') return entry['auth_mode'] as AuthMode;
  const provider = input.file.get('providers')?.get(key) ?? input.stored.get('providers')?.get(key);
  return (provider?.entry['auth_mode'] ?? 'bearer_static') as AuthMode;
}

function notGiven({ section, item, ref }: HeldItem): RelayError {
  return invalidField(
    `${item.path}.secret_ref`,
    `The ${section.kind} "${item.key}" needs the secret ${ref}, and the apply request doesn’t include it. Make ${ref} available where the file is applied.`,
  );
}
