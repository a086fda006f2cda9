import { withoutQuery } from '../../domain/guardrails/url.ts';
import type { RelayError } from '../../domain/relay-error.ts';
import { conflict, invalidField, listNames, nounOf } from '../resources/refusals.ts';
import type { Reference, SectionName } from '../resources/section.ts';
import type { Section } from '../resources/stored-section.ts';
import { sameOrigin } from '../resources/upstream-address.ts';
import type { StoredItem } from './configuration.ts';
import type { Change, Plan, PlanInput } from './make-plan.ts';
import type { FileItem } from './read-file.ts';

/** Rejects a plan that would leave a reference to a missing item, and names the item with the reference. */
export function judgePlan(input: PlanInput, plan: Plan): void {
  const gone = new Set(plan.changes.filter(({ action }) => action === 'delete').map(({ id }) => id));
  const isThere = ({ section, key }: Reference): boolean => {
    if (input.file.get(section)?.has(key) === true) return true;
    const stored = input.stored.get(section)?.get(key);
    return stored !== undefined && !gone.has(stored.row.id);
  };
  for (const section of input.sections) {
    const file = input.file.get(section.name);
    for (const item of file?.values() ?? []) {
      const missing = section.referencesOf(item.entry).find((reference) => !isThere(reference));
      if (missing !== undefined) throw namedInVain(input.sections, item, missing);
    }
    for (const stored of input.stored.get(section.name)?.values() ?? []) {
      if (file?.has(stored.key) === true || gone.has(stored.row.id)) continue;
      const missing = section.referencesOf(stored.entry).find((reference) => !isThere(reference));
      if (missing !== undefined) throw stillUsed(input.sections, section, stored, missing);
    }
  }
}

function namedInVain(
  sections: readonly Section[],
  item: FileItem,
  { field, section, key }: Reference,
): RelayError {
  const param = `${item.path}.${field}`;
  return invalidField(
    param,
    `${param} names the ${kindOf(sections, section)} "${key}", which is neither in the file nor in this organization. Add it to ${section}, or name one that exists.`,
  );
}

/** The file may delete only what it owns. Deleting this resource would also delete what uses it. */
function stillUsed(
  sections: readonly Section[],
  user: Section,
  stored: StoredItem,
  { section, key }: Reference,
): RelayError {
  return conflict(
    section,
    `The ${kindOf(sections, section)} "${key}" is no longer in the file and cannot be deleted: the ${nounOf(user.kind)} "${stored.key}" uses it and is not managed by file. Delete that first, or add "${key}" back to the file.`,
  );
}

/**
 * IDs of credentials and guardrails that hold a secret and move to another origin. Relay never sends a secret to
 * another origin than it was entered for, so the apply must provide it again, which is impossible for one outside
 * the file.
 */
export function secretsToEnterAgain(input: PlanInput, plan: Plan): ReadonlySet<string> {
  const changed = plan.changes.filter(movesOrigin);
  const moved = new Map(
    changed.filter(({ section }) => section.name === 'providers').map((change) => [change.key, change]),
  );
  const guardrails = changed.filter(({ section }) => section.name === 'guardrails');
  const again = new Set(guardrails.map(({ id }) => id));
  const foreign: StoredItem[] = [];
  const deleted = new Set(plan.changes.filter(({ action }) => action === 'delete').map(({ id }) => id));
  for (const stored of input.stored.get('credentials')?.values() ?? []) {
    if (!moved.has(String(stored.entry['provider'])) || deleted.has(stored.row.id)) continue;
    if (input.file.get('credentials')?.has(stored.key) === true) again.add(stored.row.id);
    else foreign.push(stored);
  }
  const first = foreign[0];
  if (first === undefined) return again;
  const change = moved.get(String(first.entry['provider']));
  throw conflict(
    `${change?.item?.path}.base_url`,
    `base_url changes to another origin, but credentials that are not in the file are stored for the old one: ${listNames(foreign.map(({ key }) => key))}. Delete them, or add them to the file.`,
  );
}

function movesOrigin({ section, action, stored, item }: Change): boolean {
  if (section.name !== 'providers' && section.name !== 'guardrails') return false;
  if (action !== 'update' || stored === null || item === null) return false;
  const [before, after] = [stored, item].map(({ entry }) => withoutQuery(String(entry['base_url'])));
  return !sameOrigin(before ?? '', after ?? '');
}

function kindOf(sections: readonly Section[], name: SectionName): string {
  return nounOf(sections.find((section) => section.name === name)?.kind ?? name);
}
