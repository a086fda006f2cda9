import type { paths } from '@relay/contract/api-types';
import createClient, { type Client } from 'openapi-fetch';
import { ApiError, errorOf, Unreachable } from '../errors/api-error.ts';

export type Api = Client<paths>;

export interface ApiDeps {
  /** The CSRF token of the session, sent with every write; null before sign-in. */
  readonly csrfToken: () => string | null;
  /** The session ended: it was signed out elsewhere, revoked or expired. */
  readonly onSessionLost: () => void;
}

/** The codes for an expired cookie and for a missing one. */
const SESSION_LOST = new Set(['session_expired', 'missing_api_key']);

/**
 * A client of the management API. It throws `ApiError` or `Unreachable` for every response that is not
 * successful.
 */
export function createApi(deps: ApiDeps): Api {
  const api = createClient<paths>({
    baseUrl: window.location.origin,
    fetch: async (request) => {
      try {
        return await fetch(request);
      } catch (error) {
        if (request.signal.aborted) throw error;
        throw new Unreachable(error);
      }
    },
  });
  api.use({
    onRequest({ request }) {
      const token = deps.csrfToken();
      if (token !== null && request.method !== 'GET') request.headers.set('x-csrf-token', token);
    },
    async onResponse({ response }) {
      if (response.ok) return;
      const error = await errorOf(response);
      if (error instanceof ApiError && SESSION_LOST.has(error.code)) deps.onSessionLost();
      throw error;
    },
  });
  return api;
}

/** The data of a response. The client has already thrown errors, so data is present. */
export async function take<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  return data as T;
}
