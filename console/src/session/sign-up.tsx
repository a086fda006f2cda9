import type { SignUp as SignUpBody } from '@relay/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { take } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field, Input } from '../ui/field.tsx';
import { enterSession } from './enter-session.ts';

const EMPTY = { name: '', email: '', password: '', organization_name: '' };

interface SignUpProps {
  /** From the message to this address, where Relay sends mail. */
  readonly link?: { readonly token: string; readonly email: string };
  readonly onDone?: () => Promise<void>;
}

/** Hosted: creates a user and their organization. */
export function SignUp({ link, onDone }: SignUpProps) {
  const api = useApi();
  const client = useQueryClient();
  const [values, setValues] = useState({ ...EMPTY, email: link?.email ?? '' });
  const signUp = useMutation({
    mutationFn: (body: SignUpBody) => take(api.POST('/api/signup', { body })),
    onSuccess: async (session) => {
      await enterSession(client, session);
      await onDone?.();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signUp.mutate(link === undefined ? values : { ...values, token: link.token });
  };
  const input = (name: keyof typeof EMPTY) => ({
    name,
    required: true,
    value: values[name],
    onChange: (event: { target: { value: string } }) =>
      setValues((before) => ({ ...before, [name]: event.target.value })),
  });
  return (
    <form onSubmit={submit} className="space-y-4">
      <Field label={text.signIn.organization}>
        {(control) => <Input {...control} autoFocus {...input('organization_name')} />}
      </Field>
      <Field label={text.signIn.name}>
        {(control) => <Input {...control} autoComplete="name" {...input('name')} />}
      </Field>
      <Field label={text.signIn.email}>
        {(control) => (
          <Input
            {...control}
            type="email"
            autoComplete="username"
            readOnly={link !== undefined}
            {...input('email')}
          />
        )}
      </Field>
      <Field label={text.signIn.password} hint={text.signIn.passwordHint}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="new-password"
            minLength={12}
            {...input('password')}
          />
        )}
      </Field>
      <ErrorNote error={signUp.error} />
      <Button type="submit" look="solid" className="w-full" busy={signUp.isPending}>
        {text.signIn.signUpSubmit}
      </Button>
    </form>
  );
}
