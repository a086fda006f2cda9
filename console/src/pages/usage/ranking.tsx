import { useMemo } from 'react';
import type { Bucket } from '../../format/times.ts';
import { formatBucket } from '../../format/times.ts';
import type { MetricLook } from '../../parts/usage-metrics.ts';
import { text } from '../../text/index.ts';
import { type Column, DataTable, RowName } from '../../ui/data-table.tsx';
import { Share } from '../../ui/share.tsx';
import type { RankedRow } from './ranked-rows.ts';

const words = text.usage;

interface RankingProps {
  readonly title: string;
  /** The heading of the name column. */
  readonly group: string;
  readonly look: MetricLook;
  readonly bucket: Bucket;
  readonly rows: readonly RankedRow[] | undefined;
  /** The sum of all rows; null where values do not add up. */
  readonly total: number | null;
  /** Filters the page by a row; undefined without such a filter. */
  readonly onOpen: ((key: string) => void) | undefined;
}

/** The groups by total. A click filters the page. */
export function Ranking({ title, group, look, bucket, rows, total: sum, onOpen }: RankingProps) {
  const columns = useMemo((): readonly Column<RankedRow>[] => {
    const name: Column<RankedRow> = {
      id: 'name',
      header: group,
      sortBy: ({ label }) => label,
      cell: ({ label, key }) =>
        onOpen === undefined || key === null ? (
          <span className="block max-w-64 truncate font-medium">{label}</span>
        ) : (
          <RowName onOpen={() => onOpen(key)}>{label}</RowName>
        ),
      ...(sum === null ? {} : { total: () => words.total }),
    };
    const total: Column<RankedRow> = {
      id: 'total',
      header: look.label,
      align: 'right',
      sortBy: (row) => row.total ?? 0,
      cell: (row) => (row.total === null ? look.none : look.formatShort(row.total)),
      ...(sum === null ? {} : { total: () => look.formatShort(sum) }),
    };
    const share: Column<RankedRow> = {
      id: 'share',
      header: words.share,
      align: 'right',
      width: 'w-56',
      sortBy: (row) => row.share ?? 0,
      cell: (row) => <Share share={row.share ?? 0} />,
    };
    const peak: Column<RankedRow> = {
      id: 'peak',
      header: words.peak,
      align: 'right',
      from: 'md',
      sortBy: (row) => row.peak?.value ?? 0,
      cell: (row) =>
        row.peak === null ? (
          text.charts.empty
        ) : (
          <>
            {look.formatShort(row.peak.value)}
            <span className="ml-2 text-xs text-ink-faint">{formatBucket(row.peak.at, bucket)}</span>
          </>
        ),
    };
    return look.adds ? [name, total, share, peak] : [name, total, peak];
  }, [group, look, bucket, sum, onOpen]);
  return (
    <DataTable
      label={words.rankingOf(title)}
      columns={columns}
      rows={rows}
      rowId={(row) => row.id}
      sortedBy={SORTED_BY}
    />
  );
}

const SORTED_BY = { id: 'total', desc: true } as const;
