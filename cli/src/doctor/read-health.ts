import type { components } from '@relay/contract/api-types';
import { dataOf } from '../api/client.ts';
import type { Examination } from './finding.ts';

/** What the server reports of its stores and of metering. */
export type Health = components['schemas']['HealthReport'];

export function readHealth({ api }: Examination): Promise<Health> {
  return dataOf(api.management.GET('/healthz'));
}
