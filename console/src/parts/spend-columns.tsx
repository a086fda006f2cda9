import type { ReactNode } from 'react';
import { formatMoneyShort } from '../format/numbers.ts';
import { text } from '../text/index.ts';
import type { Column } from '../ui/data-table.tsx';
import { DayValue } from './day-figure.tsx';
import { costPerRequest } from './endpoint-spend.ts';
import { type EndpointSums, sumOfAll } from './endpoint-sums.ts';
import { SpendSum } from './spend-sum.tsx';

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
    {
      id: 'spend',
      header: heads.spend,
      from: 'lg',
      ...columnOf<Row>((stats) => stats?.cost_micros ?? null, Spent),
    },
    { id: 'cost', header: heads.cost, from: 'xl', ...columnOf<Row>(costPerRequest, MeanCost) },
  ];
}

interface MoneyProps {
  /** Undefined while unknown. */
  readonly of: EndpointSums | undefined;
}

function columnOf<Row extends SpendRow>(
  microsOf: (stats: EndpointSums | undefined) => number | null,
  Cell: (props: MoneyProps) => ReactNode,
) {
  return {
    align: 'right',
    sortBy: ({ stats }: Row) => microsOf(stats) ?? -1,
    cell: ({ stats }: Row) => <Cell of={stats} />,
    total: (rows: readonly Row[]) => <Cell of={sumOfAll(rows.map(({ stats }) => stats))} />,
  } as const;
}

function Spent({ of }: MoneyProps) {
  if (of === undefined) return <span className="text-ink-faint">{text.states.empty}</span>;
  return <SpendSum micros={of.cost_micros} unpriced={of.unpriced_requests} format={formatMoneyShort} />;
}

function MeanCost({ of }: MoneyProps) {
  return <DayValue of={{ total: costPerRequest(of), hours: [] }} format={formatMoneyShort} />;
}
