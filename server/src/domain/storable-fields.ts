import { RelayError } from './relay-error.ts';

/** Refuses text that PostgreSQL cannot hold: `text` has no place for NUL, and `jsonb` none for half of a surrogate pair either. */
export function demandStorableText(param: string, text: string): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  throw new RelayError('invalid_request', {
    param,
    message: `${param} must not contain a NUL character or an unpaired surrogate.`,
  });
}

/**
 * Refuses, by the name of the field, what the contract admits and PostgreSQL cannot hold: such text, and integers past a column's
 * range.
 */
export function demandStorable(fields: object, integerMax: Readonly<Record<string, number>> = {}): void {
  for (const [param, value] of Object.entries(fields)) {
    if (typeof value === 'string') demandStorableText(param, value);
    const max = integerMax[param];
    if (typeof value === 'number' && max !== undefined && value > max) {
      throw new RelayError('invalid_request', { param, message: `${param} must be at most ${max}.` });
    }
  }
}
