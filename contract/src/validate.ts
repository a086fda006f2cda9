import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { issuesOf, type Validation } from './check-value.ts';

export type Validator = (value: unknown) => Validation;

/**
 * A fast check, compiled at its first use: a server has hundreds, and compiling all of them would be a tenth of its start. The
 * slower walk that names the field and the fix runs only on invalid values.
 */
export function compileValidator(schema: TSchema): Validator {
  let compiled: ReturnType<typeof Compile> | null = null;
  return (value) => {
    compiled ??= Compile(schema);
    return compiled.Check(value) ? { ok: true } : { ok: false, issues: issuesOf(schema, value) };
  };
}
