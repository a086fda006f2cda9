/** What a form sends: fields that were left empty are left out, and text has no spaces around it. */
export function bodyOf(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const tidy = typeof value === 'string' ? value.trim() : value;
    if (tidy !== '' && tidy !== undefined && !Number.isNaN(tidy)) body[name] = tidy;
  }
  return body;
}
