const STEM_CHARACTERS_MAX = 80;

/**
 * The form of a name in URLs and model names: lower case, letters and digits of any script, `-` between. Accents of Latin letters are
 * removed, because people do not type them. `fallback` is used for a name without letters or digits.
 */
export function slugOf(name: string, fallback: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
  const words = plain.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
  const characters = [...words.join('-')].slice(0, STEM_CHARACTERS_MAX);
  return characters.join('').replace(/-$/, '') || fallback;
}

/** The stem itself when it is free, otherwise the stem with the smallest free number, starting at 2. */
export function firstFreeSlug(stem: string, taken: ReadonlySet<string>): string {
  if (!taken.has(stem)) return stem;
  let number = 2;
  while (taken.has(`${stem}-${number}`)) number += 1;
  return `${stem}-${number}`;
}
