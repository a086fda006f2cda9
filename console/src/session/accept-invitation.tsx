import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { take } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Skeleton } from '../ui/states.tsx';
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
  const isNew = session.data === undefined;
  const join = useMutation({
    mutationFn: () =>
      take(api.POST('/api/invitations/accept', { body: isNew ? { token, name, password } : { token } })),
    onSuccess: async (next) => {
      await enterSession(client, next);
      await navigate({ to: '/' });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    join.mutate();
  };
  // The form depends on whether the user is signed in.
  if (session.isPending) return <Skeleton className="h-9 w-full rounded-lg" />;
  return (
    <form onSubmit={submit} className="space-y-4">
      {isNew ? (
        <>
          <p className="text-[13px] text-ink-soft">{words.newHint}</p>
          <Field label={text.signIn.name}>
            {(control) => (
              <Input
                {...control}
                autoComplete="name"
                required
                value={name}
                onChange={(event) => setName(event.target.value)}
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
                required
                value={password}
                onChange={(event) => setPassword(event.target.value)}
              />
            )}
          </Field>
        </>
      ) : (
        <p className="text-[13px] text-ink-soft">{words.joinAs(session.data?.user.email ?? '')}</p>
      )}
      <ErrorNote error={join.error} />
      <Button type="submit" look="solid" className="w-full" busy={join.isPending}>
        {words.join}
      </Button>
    </form>
  );
}
