const REPLACEMENT = '\u{FFFD}';
/** One escape of a JSON text: a NUL or half of a surrogate pair in the first group, or any other. */
const ESCAPE = /(\\u0000|\\ud[89a-f][0-9a-f]{2})|\\./g;

// Texts of clients and providers may hold what PostgreSQL has no place for: NUL, and halves of surrogate pairs. It would refuse the
// whole row, so these characters are replaced.

export function storableText(text: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text;
  return text.toWellFormed().replaceAll('\0', REPLACEMENT);
}

/** The value as JSON. `JSON.stringify` escapes halves of surrogate pairs, and only those. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes('\\u0000') && !json.includes('\\ud')) return json;
  return json.replaceAll(ESCAPE, (found, unstorable) => (unstorable === undefined ? found : REPLACEMENT));
}
