import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../api/use-api.ts';

export function useSignOut() {
  const api = useApi();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.DELETE('/api/session'),
    // The next user of this browser must not see cached data.
    onSuccess: () => client.resetQueries(),
  });
}
