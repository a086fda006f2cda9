import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { issuesOf, type Validation } from './check-value.ts';

export type Validator = (value: unknown) => Validation;

/** Compiles a fast check. The slower walk that names the field and the fix runs only on invalid values. */
export function compileValidator(schema: TSchema): Validator {
  const compiled = Compile(schema);
  return (value) => (compiled.Check(value) ? { ok: true } : { ok: false, issues: issuesOf(schema, value) });
}
