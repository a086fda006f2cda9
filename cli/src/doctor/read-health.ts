import type { components } from '@relay/contract/api-types';
import { ApiError } from '../api/api-error.ts';
import { dataOf } from '../api/client.ts';
import type { Plane } from '../session/connection.ts';
import type { Examination } from './finding.ts';

/** What the server reports of its stores and of metering. */
export type Health = components['schemas']['HealthReport'];

const ROLES = {
  management: ['all', 'platform'],
  inference: ['all', 'inference'],
} as const satisfies Record<Plane, readonly string[]>;

/** A route of each plane, which answers 401 or more without a token. */
const ROUTES = { management: '/api/relay/capabilities', inference: '/v1/models' } as const;

/**
 * Whether this address serves a plane: by the role of the process that answers, or because a proxy in front of it leads there. A proxy may send
 * health checks to another process than calls.
 */
export async function serves({ api }: Examination, { role }: Health, plane: Plane): Promise<boolean> {
  if ((ROLES[plane] as readonly string[]).includes(role)) return true;
  return await api.text(ROUTES[plane], null).then(
    () => true,
    (error: unknown) => error instanceof ApiError && error.status !== 404,
  );
}

export function readHealth({ api }: Examination): Promise<Health> {
  return dataOf(api.management.GET('/healthz'));
}
