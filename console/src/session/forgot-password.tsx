import { useQuery } from '@tanstack/react-query';
import { take } from '../api/client.ts';
import { signInMethodsQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { text } from '../text/index.ts';
import { ErrorCard, Skeleton } from '../ui/states.tsx';
import { LinkRequest } from './link-request.tsx';
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
  return (
    <LinkRequest
      words={{ hint: words.requestHint, submit: words.request, sent: words.requested }}
      send={(email) => take(api.POST('/api/session/password-reset', { body: { email } }))}
    />
  );
}
