import { RelayError } from './relay-error.ts';

/**
 * Refuses, by the name of the field, what the contract admits and PostgreSQL cannot hold: text with NUL, and integers
 * past a column's range.
 */
export function demandStorable(fields: object, integerMax: Readonly<Record<string, number>> = {}): void {
  for (const [param, value] of Object.entries(fields)) {
    if (typeof value === 'string' && value.includes('\0')) {
      throw new RelayError('invalid_request', {
        param,
        message: `${param} must not contain the NUL character.`,
      });
    }
    const max = integerMax[param];
    if (typeof value === 'number' && max !== undefined && value > max) {
      throw new RelayError('invalid_request', { param, message: `${param} must be at most ${max}.` });
    }
  }
}
