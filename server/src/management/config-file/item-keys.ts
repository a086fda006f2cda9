import type { Entry, SectionShape } from '../resources/section.ts';

/** The keys of a list in order. Repeated keys are numbered: the second is `… #2`. */
export function numbered<Item extends { readonly entry: Entry }>(
  section: SectionShape,
  items: readonly Item[],
): (Item & { readonly key: string })[] {
  const keyed = items.map((item) => ({ ...item, key: section.keyOf(item.entry) }));
  keyed.sort((a, b) => compare(a.key, b.key) || compare(textOf(section, a.entry), textOf(section, b.entry)));
  if (!section.repeats) return keyed;
  let last = '';
  let count = 0;
  return keyed.map((item) => {
    count = item.key === last ? count + 1 : 1;
    last = item.key;
    return count === 1 ? item : { ...item, key: `${item.key} #${count}` };
  });
}

function textOf(section: SectionShape, entry: Entry): string {
  return JSON.stringify(section.fields.map((field) => entry[field]));
}

/** Compares code units, so that the order does not depend on the locale. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
