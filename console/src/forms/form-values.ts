import type { Issue } from '@relay/contract';

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

/** An error at a field: its value is missing, or it is wrong. */
export interface FormError {
  readonly type: 'missing' | 'wrong';
  readonly message: string;
}

export function formErrorOf({ path, message }: Issue, body: Readonly<Record<string, unknown>>): FormError {
  // The path of an item in a list isn't a name in the body; an item is never missing.
  const isMissing = /^\w+$/.test(path) && (body[path] ?? null) === null;
  return { type: isMissing ? 'missing' : 'wrong', message: sentenceOf(path, message) };
}

/**
 * A missing value is reported on submitting only: an error that appears when its field is left moves the button that is
 * being clicked.
 */
export function shownError(
  error: { readonly type?: unknown; readonly message?: string } | undefined,
  isSubmitted: boolean,
): string | undefined {
  return error?.type === 'missing' && !isSubmitted ? undefined : error?.message;
}
