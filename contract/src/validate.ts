import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { issuesOf, type Validation } from './check-value.ts';

export type Validator = (value: unknown) => Validation;

/**
 * A validator whose issues name the field and the fix. The compiled check decides; the slower walk that
 * finds the words runs only on values already known to be wrong.
 */
export function compileValidator(schema: TSchema): Validator {
  const compiled = Compile(schema);
  return (value) => (compiled.Check(value) ? { ok: true } : { ok: false, issues: issuesOf(schema, value) });
}
