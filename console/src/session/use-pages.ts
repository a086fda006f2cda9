import { useQuery } from '@tanstack/react-query';
import { type PageEntry, pageTable } from '../address/page-table.ts';
import { capabilitiesQuery } from '../api/queries.ts';
import { useApi } from '../api/use-api.ts';
import { useAccess } from './use-access.ts';

/** The pages this caller can open in this deployment. */
export function usePages(): readonly PageEntry[] {
  const { data } = useQuery(capabilitiesQuery(useApi()));
  const { can } = useAccess();
  if (data === undefined) return [];
  return pageTable.filter(
    ({ needs, accountsOnly }) => can(needs) && (accountsOnly !== true || data.accounts),
  );
}
