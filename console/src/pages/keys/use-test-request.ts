import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { errorOf } from '../../errors/api-error.ts';

export type TestRequest = UseMutationResult<void, Error, string>;

/** Sends one short request to a model with a new key, as a client would. */
export function useTestRequest(secret: string): TestRequest {
  return useMutation({
    mutationFn: async (model: string) => {
      const response = await fetch('/v1/chat/completions', {
        method: 'POST',
        // The key alone has to do: no cookie of the session.
        credentials: 'omit',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      });
      if (!response.ok) throw await errorOf(response);
    },
  });
}
