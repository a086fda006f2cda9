import type { ConfigPlan } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useListSearch } from '../../address/use-list-search.ts';
import { configOwnedQuery } from '../../api/control-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { matches } from '../../format/matches.ts';
import { text } from '../../text/index.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { EmptyState, ErrorCard, NothingMatches } from '../../ui/states.tsx';
import { SectionLink } from './section-link.tsx';

const words = text.configuration.owned;
const kindOf = ({ section }: Owned) => text.configuration.sections(section);

type Owned = ConfigPlan['orphaned'][number];

const columns: readonly Column<Owned>[] = [
  {
    id: 'key',
    header: words.columns.key,
    sortBy: ({ key }) => key,
    cell: ({ section, key, id }) => (
      <SectionLink section={section} id={id}>
        {key}
      </SectionLink>
    ),
    width: 'w-full',
  },
  {
    id: 'section',
    header: words.columns.section,
    sortBy: kindOf,
    cell: (owned) => <span className="whitespace-nowrap text-ink-soft">{kindOf(owned)}</span>,
  },
];

/** The resources that only the file can change. */
export function OwnedView() {
  const owned = useQuery(configOwnedQuery(useApi()));
  const { query, setQuery } = useListSearch();
  const rows = useMemo(
    () => owned.data?.filter((each) => matches(query, each.key, kindOf(each))),
    [owned.data, query],
  );
  if (owned.error !== null && owned.data === undefined)
    return <ErrorCard error={owned.error} onRetry={() => void owned.refetch()} />;
  if (owned.data?.length === 0) return <EmptyState title={words.empty} />;
  return (
    <div className="space-y-4">
      <p className="max-w-2xl text-[13px] text-ink-soft">{words.hint}</p>
      <SearchInput label={words.search} value={query} onChange={setQuery} />
      {rows?.length === 0 ? (
        <NothingMatches onClear={() => setQuery('')} />
      ) : (
        <DataTable
          label={words.table}
          columns={columns}
          rows={rows}
          rowId={({ id }) => id}
          sortedBy={{ id: 'section', desc: false }}
        />
      )}
    </div>
  );
}
