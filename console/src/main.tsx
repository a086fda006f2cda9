import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createApi } from './api/client.ts';
import { cacheKeys } from './api/queries.ts';
import { ApiContext } from './api/use-api.ts';
import { createConsoleRouter } from './app/router.tsx';
import { ApiError } from './errors/api-error.ts';
import { signInByLink } from './session/sign-in-by-link.ts';
import './styles.css';
import { ToastProvider } from './ui/toasts.tsx';

/** Open dialogs add a style element, which the content security policy allows with this nonce. */
setNonce(document.querySelector('meta[name=style-nonce]')?.getAttribute('content') ?? '');

const RETRIES_MAX = 2;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Retrying a rejected request does not help.
      retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < RETRIES_MAX,
    },
  },
});

const api = createApi({
  csrfToken: () => client.getQueryData<{ csrf_token: string }>(cacheKeys.session)?.csrf_token ?? null,
  onSessionLost: () => {
    const state = client.getQueryState(cacheKeys.session);
    // Refetching the session shows the sign-in page. The session query itself must not trigger a refetch.
    if (state?.status === 'success') void client.resetQueries({ queryKey: cacheKeys.session });
  },
});

await signInByLink(api, client);
const router = createConsoleRouter();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root element');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <ApiContext value={api}>
        <ToastProvider>
          <RouterProvider router={router} />
        </ToastProvider>
      </ApiContext>
    </QueryClientProvider>
  </StrictMode>,
);
