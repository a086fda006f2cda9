import { useQuery } from '@tanstack/react-query';
import { capabilitiesQuery, sessionQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { ApiError } from '../errors/api-error.ts';
import { SignIn } from '../session/sign-in.tsx';
import { Suspended } from '../session/suspended.tsx';
import { ErrorCard } from '../ui/states.tsx';
import { Shell } from './shell.tsx';

/** Shows the sign-in page without a session. The URL stays, so that sign-in returns to the requested page. */
export function SessionGate() {
  const api = useApi();
  const session = useQuery(sessionQuery(api));
  const suspended = session.data?.suspended === true ? session.data : null;
  const capabilities = useQuery({
    ...capabilitiesQuery(api),
    enabled: session.isSuccess && suspended === null,
  });
  const error = session.error ?? capabilities.error;
  if (error instanceof ApiError && error.status === 401) return <SignIn />;
  if (suspended !== null) return <Suspended session={suspended} />;
  if (error !== null)
    return (
      <main className="mx-auto max-w-xl px-4 py-24">
        <ErrorCard
          error={error}
          onRetry={() => {
            void session.refetch();
            void capabilities.refetch();
          }}
        />
      </main>
    );
  // Without knowing what the caller may see, pages would show their narrowest form for a moment, and then jump.
  if (session.data === undefined || capabilities.data === undefined) return null;
  return <Shell />;
}
