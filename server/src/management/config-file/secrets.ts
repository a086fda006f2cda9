import { timingSafeEqual } from 'node:crypto';
import type { ConfigPlan } from '@relay/contract';
import type { RelayError } from '../../domain/relay-error.ts';
import { type Sealer, UnsealError } from '../../kit/seal.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import { invalidField } from '../resources/refusals.ts';
import type { Values } from '../resources/rows.ts';
import { demandSendable, nextPlace, sealedSecret } from '../resources/sealed-secret.ts';
import type { StoredSecret } from '../resources/section.ts';
import type { Change, Plan, PlanInput } from './make-plan.ts';
import { type HeldItem, heldItems } from './secret-holders.ts';

/** The secrets an apply carries, by their references. */
export type Secrets = Readonly<Record<string, string>>;

/** The items whose secret an apply has to carry: it is not stored, or stored for something else. */
export function itemsToProvide(input: PlanInput, toEnterAgain: ReadonlySet<string>): HeldItem[] {
  return heldItems(input).filter(({ stored, ref }) => {
    if (ref === null) return false;
    if (stored === null || (stored.secret?.sealed ?? null) === null || toEnterAgain.has(stored.row.id))
      return true;
    // One that was entered by hand has no reference, and keeps its secret when it gets one.
    const refBefore = stored.entry['secret_ref'] ?? null;
    return refBefore !== null && refBefore !== ref;
  });
}

export interface SecretInput {
  readonly sealer: Sealer;
  readonly organizationId: string;
  readonly secrets: Secrets;
  readonly toProvide: readonly HeldItem[];
  /** The ids of those whose secret was entered for another origin. */
  readonly toEnterAgain: ReadonlySet<string>;
}

/** The changes of a plan with the secrets that are new sealed into them, and those that are no longer named taken out. */
export function withSecrets(input: PlanInput, plan: Plan, given: SecretInput): readonly Change[] {
  const held = heldItems(input);
  demandKnown(held, given.secrets);
  const changes = new Map(plan.changes.map((change) => [change.id, change]));
  for (const one of held) {
    const id = plan.ids(one.section.name, one.item.key);
    const changed = changeOf(plan, given, one, changes.get(id));
    if (changed !== undefined) changes.set(id, changed);
  }
  return [...changes.values()];
}

/** What an apply has to carry it has to carry; a plan may do without. */
export function demandProvided({ toProvide, secrets }: SecretInput): void {
  const missing = toProvide.find(({ ref }) => secretOf(secrets, ref) === undefined);
  if (missing !== undefined) throw notGiven(missing);
}

/** What would become of every secret that the file refers to. */
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

/** A secret that no longer opens is as good as none. */
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

/** A secret that nothing asks for is a slip; passing over it would leave the wrong one in use. */
function demandKnown(held: readonly HeldItem[], secrets: Secrets): void {
  const asked = new Set(held.map(({ ref }) => ref));
  for (const [ref, secret] of Object.entries(secrets)) {
    if (!asked.has(ref)) {
      throw invalidField(
        'secrets',
        `secrets has "${ref.slice(0, 100)}", which no credential or guardrail of the file refers to. Leave it out, or correct its name.`,
      );
    }
    demandSendable(`secrets["${ref}"]`, secret);
  }
}

function notGiven({ section, item, ref }: HeldItem): RelayError {
  return invalidField(
    `${item.path}.secret_ref`,
    `The ${section.kind} "${item.key}" needs the secret ${ref}, and the apply does not carry it. Make ${ref} available where the file is applied.`,
  );
}
