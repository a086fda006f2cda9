/** Whether every word of the query occurs in one of the texts. */
export function matches(query: string, ...texts: readonly (string | null)[]): boolean {
  const all = texts.join('\n').toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
