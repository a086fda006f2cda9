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
import './styles.css';
import { ToastProvider } from './ui/toasts.tsx';

/** Dialogs add a style element while they are open; the policy lets in the one that has this page's nonce. */
setNonce(document.querySelector('meta[name=style-nonce]')?.getAttribute('content') ?? '');

const RETRIES_MAX = 2;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What was refused will be refused again.
      retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < RETRIES_MAX,
    },
  },
});

const api = createApi({
  csrfToken: () => client.getQueryData<{ csrf_token: string }>(cacheKeys.session)?.csrf_token ?? null,
  onSessionLost: () => {
    const state = client.getQueryState(cacheKeys.session);
    // Asking once more shows the sign-in page; the question itself must not ask again.
    if (state?.status === 'success') void client.resetQueries({ queryKey: cacheKeys.session });
  },
});

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
