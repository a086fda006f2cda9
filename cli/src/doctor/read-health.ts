import { dataOf } from '../api/client.ts';
import type { Examination } from './finding.ts';

/** What the server reports of its stores and of metering; a server without them leaves fields out. */
export interface Health {
  readonly status?: string;
  readonly stores?: string;
  readonly postgresql?: string;
  readonly redis?: string;
  readonly draining?: string;
  readonly metering?: { readonly drift?: number | null };
}

export function readHealth({ api }: Examination): Promise<Health> {
  return dataOf(api.management.GET('/healthz'));
}
