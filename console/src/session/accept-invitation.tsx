import type { InvitationAcceptance } from '@relay/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { take } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { hasCode, paramOf } from '../errors/api-error.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Skeleton } from '../ui/states.tsx';
import { CodeField, useCode } from './code-field.tsx';
import { enterSession } from './enter-session.ts';
import { Panel, SignedOutPage, SignInLink } from './signed-out-page.tsx';
import { useLink } from './use-link.ts';

const words = text.invitation;

/** The target of an invitation link. */
export function AcceptInvitation() {
  const { token } = useLink();
  return (
    <SignedOutPage title={words.title} below={<SignInLink />}>
      <Panel>
        {token === '' ? <p className="text-ink-soft">{words.missing}</p> : <JoinForm token={token} />}
      </Panel>
    </SignedOutPage>
  );
}

function JoinForm({ token }: { readonly token: string }) {
  const api = useApi();
  const client = useQueryClient();
  const navigate = useNavigate();
  const session = useQuery(sessionQuery(api));
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [isKnown, setKnown] = useState(false);
  const [isOther, setOther] = useState(false);
  const join = useMutation({
    mutationFn: (body: InvitationAcceptance) => take(api.POST('/api/invitations/accept', { body })),
    onSuccess: async (next) => {
      await enterSession(client, next);
      await navigate({ to: '/' });
    },
  });
  const code = useCode(join.error);
  // The address has an account, and the session is of another person, or of none.
  const needsPassword = hasCode(join.error, 'conflict') && paramOf(join.error) === 'password';
  if (needsPassword && !isOther) setOther(true);
  const isSignedIn = session.data !== undefined && !isOther;
  const hasAccount = isKnown || isOther;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isSignedIn) join.mutate({ token });
    else join.mutate({ token, password, ...(hasAccount ? {} : { name }), ...code.sent });
  };
  // The form depends on whether the user is signed in.
  if (session.isPending) return <Skeleton className="h-9 w-full rounded-lg" />;
  return (
    <form onSubmit={submit} className="space-y-4">
      <p className="text-[13px] text-ink-soft">
        {isSignedIn
          ? words.joinAs(session.data?.user.email ?? '')
          : hasAccount
            ? words.knownHint
            : words.newHint}
      </p>
      {isSignedIn || hasAccount ? null : <NameField value={name} onChange={setName} />}
      {isSignedIn ? null : <PasswordField isNew={!hasAccount} value={password} onChange={setPassword} />}
      <CodeField code={code} />
      <ErrorNote error={needsPassword ? null : code.error} />
      <Button type="submit" look="solid" className="w-full" busy={join.isPending}>
        {words.join}
      </Button>
      {isSignedIn || hasAccount ? null : (
        <p className="text-center text-[13px]">
          <button type="button" className="link" onClick={() => setKnown(true)}>
            {words.hasAccount}
          </button>
        </p>
      )}
    </form>
  );
}

interface TextFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function NameField({ value, onChange }: TextFieldProps) {
  return (
    <Field label={text.signIn.name}>
      {(control) => (
        <Input
          {...control}
          autoComplete="name"
          required
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function PasswordField({ isNew, value, onChange }: TextFieldProps & { readonly isNew: boolean }) {
  return (
    <Field label={text.signIn.password} hint={isNew ? text.signIn.passwordHint : undefined}>
      {(control) => (
        <Input
          {...control}
          type="password"
          autoComplete={isNew ? 'new-password' : 'current-password'}
          minLength={12}
          required
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
