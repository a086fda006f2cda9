import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { take } from '../api/client.ts';
import { signInMethodsQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { ErrorCard, Skeleton } from '../ui/states.tsx';
import { EmailField } from './email-field.tsx';
import { NoMail } from './no-mail.tsx';
import { Panel, SignedOutPage, SignInLink } from './signed-out-page.tsx';

const words = text.passwordReset;

/** Requests a link to reset a password. Without a mail server, says who can help instead. */
export function ForgotPassword() {
  const methods = useQuery(signInMethodsQuery(useApi()));
  return (
    <SignedOutPage title={words.requestTitle} below={<SignInLink />}>
      {methods.error !== null ? (
        <ErrorCard error={methods.error} onRetry={() => void methods.refetch()} />
      ) : (
        <Panel>
          {methods.data === undefined ? (
            <Skeleton className="h-9 w-full rounded-lg" />
          ) : methods.data.password_reset ? (
            <RequestForm />
          ) : (
            <NoMail />
          )}
        </Panel>
      )}
    </SignedOutPage>
  );
}

function RequestForm() {
  const api = useApi();
  const [email, setEmail] = useState('');
  const request = useMutation({
    mutationFn: () => take(api.POST('/api/session/password-reset', { body: { email } })),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  if (request.isSuccess)
    return (
      <p role="status" className="text-[13px] text-ink-soft">
        {words.requested(email)}
      </p>
    );
  return (
    <form onSubmit={submit} className="space-y-4">
      <p className="text-[13px] text-ink-soft">{words.requestHint}</p>
      <EmailField value={email} onChange={setEmail} />
      <ErrorNote error={request.error} />
      <Button type="submit" look="solid" className="w-full" busy={request.isPending}>
        {words.request}
      </Button>
    </form>
  );
}
