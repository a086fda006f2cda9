import type { ManagementDeps } from '../resources/deps.ts';

/** Until when statistics have everything, for the response. */
export function completeUntil({ ledgerCompleteUntilMs }: Pick<ManagementDeps, 'ledgerCompleteUntilMs'>): {
  readonly complete_until: string | null;
} {
  const atMs = ledgerCompleteUntilMs();
  return { complete_until: atMs === null ? null : new Date(atMs).toISOString() };
}
