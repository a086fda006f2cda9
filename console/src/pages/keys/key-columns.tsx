import type { ApiKey, LimitUsage } from '@relay/contract';
import { type DayFigures, figureIn, spentIn } from '../../api/usage-queries.ts';
import { formatMoneyShort } from '../../format/numbers.ts';
import { formatDay } from '../../format/times.ts';
import { DayTraffic, DayValue } from '../../parts/day-figure.tsx';
import { LimitBar } from '../../parts/limit-bar.tsx';
import { text } from '../../text/index.ts';
import type { Tone } from '../../ui/badge.tsx';
import { type Column, nameWidth } from '../../ui/data-table.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import { KeyMenu } from './key-menu.tsx';
import type { NewKey } from './rotate-key.ts';

const words = text.keys;
const TONES: Record<ApiKey['status'], Tone> = { active: 'good', revoked: 'bad', expired: 'warn' };

/** The last 24 hours of each key; undefined while loading and without access. */
export interface KeyDays {
  readonly requests: DayFigures | undefined;
  readonly spend: DayFigures | undefined;
}

interface KeyColumnsSetup {
  readonly budgets: ReadonlyMap<string, LimitUsage>;
  readonly days: KeyDays;
  readonly selfId: string | undefined;
  /** Names by user ID where the keys of several members are shown; otherwise null. */
  readonly owners: ReadonlyMap<string, string> | null;
  readonly onCreated: (created: NewKey) => void;
}

export function keyColumns({
  budgets,
  days,
  selfId,
  owners,
  onCreated,
}: KeyColumnsSetup): readonly Column<ApiKey>[] {
  return [
    nameColumn(owners),
    ...(owners === null ? [] : [ownerColumn(owners)]),
    ...stateColumns,
    ...trafficColumns(days),
    budgetColumn(budgets),
    ...timeColumns,
    {
      id: 'actions',
      header: words.columns.actions,
      quietHeader: true,
      align: 'right',
      cell: (key) =>
        key.status === 'active' ? (
          <KeyMenu apiKey={key} isOwn={key.user_uuid === selfId} onCreated={onCreated} />
        ) : null,
    },
  ];
}

function nameColumn(owners: KeyColumnsSetup['owners']): Column<ApiKey> {
  return {
    id: 'name',
    header: words.columns.name,
    sortBy: ({ name }) => name,
    width: nameWidth,
    cell: ({ name, key_prefix: prefix, user_uuid: id }) => (
      <div className="min-w-0">
        <p className="truncate font-medium">{name}</p>
        <p className="truncate text-xs text-ink-faint">
          <span className="font-mono">{prefix}…</span>
          {owners === null ? null : <span className="ml-2 sm:hidden">{owners.get(id)}</span>}
        </p>
      </div>
    ),
  };
}

function ownerColumn(owners: ReadonlyMap<string, string>): Column<ApiKey> {
  return {
    id: 'owner',
    header: words.columns.owner,
    from: 'sm',
    sortBy: ({ user_uuid: id }) => owners.get(id) ?? '',
    cell: ({ user_uuid: id }) => (
      <span className="whitespace-nowrap">{owners.get(id) ?? text.states.empty}</span>
    ),
  };
}

const stateColumns: readonly Column<ApiKey>[] = [
  {
    id: 'state',
    header: words.columns.state,
    sortBy: ({ status }) => status,
    cell: ({ status }) => <Signal tone={TONES[status]}>{words.statuses[status]}</Signal>,
  },
  {
    id: 'scopes',
    header: words.columns.scopes,
    from: 'xl',
    sortBy: ({ scopes }) => scopes.length,
    cell: ({ scopes }) => (
      <span title={scopes.join('\n')} className="whitespace-nowrap">
        {words.scopeCount(scopes.length)}
      </span>
    ),
  },
];

function trafficColumns({ requests, spend }: KeyDays): readonly Column<ApiKey>[] {
  const spentBy = (id: string) => spentIn(figureIn(spend, id), figureIn(requests, id));
  return [
    {
      id: 'requests',
      header: words.columns.requests,
      from: 'md',
      align: 'right',
      sortBy: ({ id }) => figureIn(requests, id)?.total ?? -1,
      cell: ({ id }) => <DayTraffic of={figureIn(requests, id)} />,
    },
    {
      id: 'spend',
      header: words.columns.spend,
      from: 'sm',
      align: 'right',
      sortBy: ({ id }) => spentBy(id)?.total ?? -1,
      cell: ({ id }) => <DayValue of={spentBy(id)} format={formatMoneyShort} />,
    },
  ];
}

function budgetColumn(budgets: KeyColumnsSetup['budgets']): Column<ApiKey> {
  return {
    id: 'budget',
    header: words.columns.budget,
    from: 'lg',
    cell: ({ id }) => {
      const usage = budgets.get(id);
      return usage === undefined ? (
        <span className="text-ink-faint">{words.noBudget}</span>
      ) : (
        <LimitBar usage={usage} />
      );
    },
  };
}

const timeColumns: readonly Column<ApiKey>[] = [
  {
    id: 'last-used',
    header: words.columns.lastUsed,
    from: 'sm',
    sortBy: ({ last_used_at: at }) => at ?? '',
    cell: ({ last_used_at: at }) => (
      <span className="whitespace-nowrap text-ink-soft">
        {at === null ? text.states.never : <Ago at={at} />}
      </span>
    ),
  },
  {
    id: 'expires',
    header: words.columns.expires,
    from: 'xl',
    sortBy: ({ expires_at: at }) => at ?? '9999',
    cell: ({ expires_at: at }) => (
      <span className="whitespace-nowrap text-ink-soft">
        {at === null ? text.states.never : <Time at={at} format={formatDay} />}
      </span>
    ),
  },
];
