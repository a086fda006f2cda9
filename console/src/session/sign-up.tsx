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

const EMPTY: SignUpBody = { name: '', email: '', password: '', organization_name: '' };

/** Hosted: creates a user and their organization. */
export function SignUp() {
  const api = useApi();
  const client = useQueryClient();
  const [values, setValues] = useState(EMPTY);
  const signUp = useMutation({
    mutationFn: (body: SignUpBody) => take(api.POST('/api/signup', { body })),
    onSuccess: (session) => enterSession(client, session),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signUp.mutate(values);
  };
  const input = (name: keyof SignUpBody) => ({
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
        {(control) => <Input {...control} type="email" autoComplete="username" {...input('email')} />}
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
