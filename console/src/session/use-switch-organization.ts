import { useMutation, useQueryClient } from '@tanstack/react-query';
import { take } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';
import { enterSession } from './enter-session.ts';

export function useSwitchOrganization() {
  const api = useApi();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => take(api.PATCH('/api/session', { body: { org_id: id } })),
    onSuccess: (next) => enterSession(client, next),
  });
}
