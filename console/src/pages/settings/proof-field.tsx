import type { PasswordProof } from '@relay/contract';
import type { UseFormReturn } from 'react-hook-form';
import { TextField } from '../../forms/fields.tsx';
import { text } from '../../text/index.ts';

const words = text.settings.security;

/** Asks for the password again before a change of credentials. */
export function ProofField({ form }: { readonly form: UseFormReturn<PasswordProof> }) {
  return (
    <TextField
      form={form}
      name="password"
      type="password"
      label={words.proof}
      hint={words.proofHint}
      autoComplete="current-password"
      autoFocus
    />
  );
}
