import { formatMoneyShort } from '../format/numbers.ts';
import type { Column } from '../ui/data-table.tsx';
import { DayValue } from './day-figure.tsx';
import { costPerRequest, knownSpend } from './endpoint-spend.ts';
import { type EndpointSums, sumOfAll } from './endpoint-sums.ts';

interface SpendRow {
  /** Undefined while unknown. */
  readonly stats: EndpointSums | undefined;
}

/** What endpoints or providers spent in the last 24 hours, and the mean cost of a request, with totals. */
export function spendColumns<Row extends SpendRow>(heads: {
  readonly spend: string;
  readonly cost: string;
}): readonly Column<Row>[] {
  return [
    { id: 'spend', header: heads.spend, from: 'lg', ...moneyOf<Row>(knownSpend) },
    { id: 'cost', header: heads.cost, from: 'xl', ...moneyOf<Row>(costPerRequest) },
  ];
}

function moneyOf<Row extends SpendRow>(microsOf: (stats: EndpointSums | undefined) => number | null) {
  return {
    align: 'right',
    sortBy: ({ stats }: Row) => microsOf(stats) ?? -1,
    cell: ({ stats }: Row) => <Money micros={microsOf(stats)} />,
    total: (rows: readonly Row[]) => <Money micros={microsOf(sumOfAll(rows.map(({ stats }) => stats)))} />,
  } as const;
}

/** Null if unknown. */
function Money({ micros }: { readonly micros: number | null }) {
  return <DayValue of={{ total: micros, hours: [] }} format={formatMoneyShort} />;
}
