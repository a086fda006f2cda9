import { exitCodes, ProgramError } from '../kit/program-error.ts';

export interface Named {
  readonly id: string;
  readonly name?: string;
  readonly slug?: string;
}

export interface Kind {
  readonly singular: string;
  readonly plural: string;
}

const ID_PREFIX_MIN = 8;
const SHOWN_MAX = 5;

/** Finds a resource by ID, slug, name or a prefix of the ID. */
export function findOne<T extends Named>(all: readonly T[], wanted: string, kind: Kind): T {
  const lower = wanted.toLowerCase();
  const ways: readonly ((each: T) => boolean)[] = [
    ({ id }) => id === wanted,
    ({ slug }) => slug === wanted,
    ({ name }) => name === wanted,
    ({ slug, name }) => slug?.toLowerCase() === lower || name?.toLowerCase() === lower,
    ({ id }) => wanted.length >= ID_PREFIX_MIN && id.startsWith(lower),
  ];
  for (const way of ways) {
    const found = all.filter(way);
    if (found.length === 1 && found[0] !== undefined) return found[0];
    if (found.length > 1) throw ambiguous(found, wanted, kind);
  }
  throw new ProgramError(`No ${kind.singular} is named "${wanted}".`, exitCodes.notFound, {
    fix: suggestion(all, lower, kind),
  });
}

/** Without a name, the only one there is. */
export function findOneOrOnly<T extends Named>(all: readonly T[], wanted: string | undefined, kind: Kind): T {
  if (wanted !== undefined) return findOne(all, wanted, kind);
  const [only, ...others] = all;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined)
    throw new ProgramError(`No ${kind.plural} yet.`, exitCodes.notFound, { fix: createFix(kind) });
  const names = all.slice(0, SHOWN_MAX).map(({ id, slug, name }) => slug ?? name ?? id);
  const more = all.length > SHOWN_MAX ? ` and ${all.length - SHOWN_MAX} more` : '';
  throw new ProgramError(`There are ${all.length} ${kind.plural}. Name one.`, exitCodes.usage, {
    fix: `Add one of: ${names.join(', ')}${more}.`,
  });
}

function createFix({ plural }: Kind): string {
  return `Create one. Run: \`relay ${plural} create --help\``;
}

function ambiguous(found: readonly Named[], wanted: string, { singular, plural }: Kind): ProgramError {
  const ids = found.slice(0, SHOWN_MAX).map(({ id, slug }) => (slug === undefined ? id : `${slug} (${id})`));
  return new ProgramError(`${found.length} ${plural} are named "${wanted}".`, exitCodes.usage, {
    fix: `Use the ${singular}'s slug or ID: ${ids.join(', ')}.`,
  });
}

function suggestion(all: readonly Named[], wanted: string, kind: Kind): string {
  if (all.length === 0) return createFix(kind);
  const { plural } = kind;
  const close = all
    .flatMap(({ slug, name }) => [slug ?? name ?? ''])
    .filter(
      (each) =>
        each !== '' &&
        distance(each.toLowerCase(), wanted) <= Math.max(wanted.length < 4 ? 1 : 2, wanted.length / 3),
    );
  const list = `Run: \`relay ${plural} list\``;
  return close[0] === undefined ? list : `Did you mean ${close[0]}? ${list}`;
}

/** The Levenshtein distance. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (let index = 0; index < other.length; index += 1) {
      const replaced = (row[index] ?? 0) + (other[index] === letter ? 0 : 1);
      next.push(Math.min((row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
