const STEM_CHARACTERS_MAX = 80;

/**
 * What a name is called in addresses: lower case, letters and digits of any script, `-` between. Accents of
 * Latin letters go, because nobody types them into a model name. `fallback` stands for a name without a
 * single letter or digit.
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

/** The stem itself when it is free, else the stem with the smallest free number from 2 on. */
export function firstFreeSlug(stem: string, taken: ReadonlySet<string>): string {
  if (!taken.has(stem)) return stem;
  let number = 2;
  while (taken.has(`${stem}-${number}`)) number += 1;
  return `${stem}-${number}`;
}
