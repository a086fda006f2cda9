import { useState } from 'react';
import { hasCode, paramOf } from '../errors/api-error.ts';
import { text } from '../text/index.ts';
import { Field, Input } from '../ui/field.tsx';

/** The second factor of a form with a password: asked for once the server wants it. */
export interface AskedCode {
  readonly isShown: boolean;
  readonly value: string;
  readonly setValue: (value: string) => void;
  /** The part of the body. */
  readonly sent: { readonly totp_code?: string };
  /** The error to show. A response that asks for a code is not an error. */
  readonly error: Error | null;
}

export function useCode(error: Error | null): AskedCode {
  const [value, setValue] = useState('');
  const [isShown, setShown] = useState(false);
  const isAskedFor = hasCode(error, 'totp_required');
  if ((isAskedFor || paramOf(error) === 'totp_code') && !isShown) setShown(true);
  return {
    isShown,
    value,
    setValue,
    sent: isShown ? { totp_code: value.trim() } : {},
    error: isAskedFor ? null : error,
  };
}

export function CodeField({ code }: { readonly code: AskedCode }) {
  if (!code.isShown) return null;
  return (
    <Field label={text.signIn.code} hint={text.signIn.codeHint}>
      {(control) => (
        <Input
          {...control}
          autoComplete="one-time-code"
          inputMode="numeric"
          autoFocus
          required
          value={code.value}
          onChange={(event) => code.setValue(event.target.value)}
        />
      )}
    </Field>
  );
}
