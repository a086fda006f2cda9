import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { take } from '../api/client.ts';
import { sessionQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Mark } from '../ui/mark.tsx';
import { Skeleton } from '../ui/states.tsx';
import { enterSession } from './enter-session.ts';

const words = text.invitation;

/**
 * The target of an invitation link. The token is removed from the URL, so that it does not stay in the history.
 */
export function AcceptInvitation() {
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '');
  useEffect(() => {
    window.history.replaceState(window.history.state, '', window.location.pathname);
    document.title = `${words.title} · ${text.shell.product}`;
  }, []);
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-12">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex flex-col items-center gap-4 [&_svg]:size-10">
          <Mark />
          <h1 className="text-xl font-semibold tracking-tight">{words.title}</h1>
        </div>
        <div className="rounded-xl border bg-panel p-6 shadow-panel">
          {token === '' ? <p className="text-ink-soft">{words.missing}</p> : <JoinForm token={token} />}
        </div>
        <p className="mt-5 text-center text-[13px]">
          <Link to="/" className="text-accent-ink underline-offset-4 hover:underline">
            {words.signIn}
          </Link>
        </p>
      </div>
    </main>
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
