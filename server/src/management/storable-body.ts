import { invalidField } from './refusals.ts';

/**
 * What the contract admits and PostgreSQL cannot hold is refused by the name of its field, before a
 * transaction begins: text with NUL, and integers past a column's range.
 */
export function demandStorable(body: object, integerMax: Readonly<Record<string, number>> = {}): void {
  for (const [field, value] of Object.entries(body)) {
    if (typeof value === 'string' && value.includes('\0')) {
      throw invalidField(field, `${field} must not contain the NUL character.`);
    }
    const max = integerMax[field];
    if (typeof value === 'number' && max !== undefined && value > max) {
      throw invalidField(field, `${field} must be at most ${max}.`);
    }
  }
}
