/** What a form sends: empty fields are left out, and text is trimmed. */
export function bodyOf(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const tidy = typeof value === 'string' ? value.trim() : value;
    if (tidy !== '' && tidy !== undefined && !Number.isNaN(tidy)) body[name] = tidy;
  }
  return body;
}

/** The message for a field without the field's name: `base_url must be an http URL` becomes "Must be an http URL." */
export function sentenceOf(path: string, message: string): string {
  const plain = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
  if (plain === '') return '';
  const sentence = plain[0]?.toUpperCase() + plain.slice(1);
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
