import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { take } from '../api/client.ts';
import { cacheKeys } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Panel, SignedOutPage, SignInLink } from './signed-out-page.tsx';
import { useLink } from './use-link.ts';

const words = text.passwordReset;

/** The target of a link to reset a password. */
export function ResetPassword() {
  const { token } = useLink();
  return (
    <SignedOutPage title={words.title} below={<SignInLink />}>
      <Panel>{token === '' ? <Incomplete /> : <PasswordForm token={token} />}</Panel>
    </SignedOutPage>
  );
}

function Incomplete() {
  return (
    <div className="space-y-3 text-[13px] text-ink-soft">
      <p>{words.missing}</p>
      <AnotherLink />
    </div>
  );
}

function AnotherLink() {
  return (
    <p className="text-[13px]">
      <Link to="/forgot-password" className="link">
        {words.another}
      </Link>
    </p>
  );
}

function PasswordForm({ token }: { readonly token: string }) {
  const api = useApi();
  const client = useQueryClient();
  const [password, setPassword] = useState('');
  const reset = useMutation({
    mutationFn: () =>
      take(api.POST('/api/session/password-reset/confirm', { body: { token, new_password: password } })),
    // This browser may have had a session, which has ended.
    onSuccess: () => client.removeQueries({ queryKey: cacheKeys.session }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    reset.mutate();
  };
  if (reset.isSuccess)
    return (
      <p role="status" className="text-[13px] text-ink-soft">
        {words.done}
      </p>
    );
  return (
    <form onSubmit={submit} className="space-y-4">
      <p className="text-[13px] text-ink-soft">{words.hint}</p>
      <Field label={words.newPassword} hint={text.signIn.passwordHint}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="new-password"
            minLength={12}
            autoFocus
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <ErrorNote error={reset.error} />
      {reset.isError ? <AnotherLink /> : null}
      <Button type="submit" look="solid" className="w-full" busy={reset.isPending}>
        {words.submit}
      </Button>
    </form>
  );
}
