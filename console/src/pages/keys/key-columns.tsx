import type { ApiKey, LimitUsage } from '@relay/contract';
import { dayIn, type TrafficDay } from '../../api/traffic-stats-queries.ts';
import { sumOf } from '../../api/usage-queries.ts';
import { formatCount } from '../../format/numbers.ts';
import { formatDay } from '../../format/times.ts';
import { DaySpend, DayTraffic, known, SpendTotal } from '../../parts/day-figure.tsx';
import { LimitBar } from '../../parts/limit-bar.tsx';
import { text } from '../../text/index.ts';
import type { Tone } from '../../ui/badge.tsx';
import { type Column, nameWidth, RowName } from '../../ui/data-table.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Ago, Time } from '../../ui/time.tsx';
import type { NewKey } from './create-key.ts';
import { KeyMenu } from './key-menu.tsx';
import { isEnding } from './key-use.ts';
import { limitLine, limitPlace } from './limit-line.ts';
import { fullness, type KeyLimits } from './use-key-limits.ts';

const words = text.keys;
const TONES: Record<ApiKey['status'], Tone> = { active: 'good', revoked: 'bad', expired: 'warn' };

interface KeyColumnsSetup {
  readonly limits: KeyLimits | undefined;
  /** The last 24 hours of each key; undefined while loading and without access. */
  readonly day: TrafficDay | undefined;
  readonly selfId: string | undefined;
  /** Names by user ID where the keys of several members are shown; otherwise null. */
  readonly owners: ReadonlyMap<string, string> | null;
  /** Names by team ID. */
  readonly teams: ReadonlyMap<string, string>;
  /** The names of what limits apply to. */
  readonly nameOf: NameOf;
  readonly onCreated: (created: NewKey) => void;
  readonly open: (id: string) => void;
}

type NameOf = (id: string) => string;

export function keyColumns(setup: KeyColumnsSetup): readonly Column<ApiKey>[] {
  const { owners, selfId, onCreated } = setup;
  return [
    nameColumn(setup),
    ...(owners === null ? [] : [ownerColumn(owners)]),
    ...(setup.teams.size === 0 ? [] : [teamColumn(setup.teams)]),
    ...trafficColumns(setup.day),
    limitColumn(setup),
    lastUsedColumn,
    expiresColumn,
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

function nameColumn({ owners, limits, nameOf, open }: KeyColumnsSetup): Column<ApiKey> {
  return {
    id: 'name',
    header: words.columns.name,
    sortBy: ({ name }) => name,
    width: nameWidth,
    cell: (key) => (
      <RowName
        onOpen={() => open(key.id)}
        note={
          <>
            <span className="font-mono max-sm:hidden">{key.key_prefix}…</span>
            <span className="sm:hidden">
              {owners === null ? null : <span className="sr-only">{owners.get(key.user_uuid)}</span>}
              <KeyInBrief of={key} limits={limits?.(key)} isRead={limits !== undefined} nameOf={nameOf} />
            </span>
          </>
        }
      >
        {key.name}
        {owners === null ? null : (
          <span aria-hidden className="ml-2 text-xs font-normal text-ink-faint sm:hidden">
            {owners.get(key.user_uuid)}
          </span>
        )}
      </RowName>
    ),
    total: (rows) => words.total(rows.length),
  };
}

/** In a narrow window, instead of their columns: the last use, then the limit, which may be cut off. */
function KeyInBrief({ of: { last_used_at: last }, limits, isRead, nameOf }: KeyInBriefProps) {
  const [usage] = limits ?? [];
  const limit = usage === undefined ? words.noBudget : limitLine(usage, nameOf);
  return (
    <>
      {last === null ? words.neverUsed : <Ago at={last} />}
      {isRead ? <span title={limit}>{` · ${limit}`}</span> : null}
    </>
  );
}

interface KeyInBriefProps {
  readonly of: ApiKey;
  readonly limits: readonly LimitUsage[] | undefined;
  /** Whether the limits are read. */
  readonly isRead: boolean;
  readonly nameOf: NameOf;
}

function ownerColumn(owners: ReadonlyMap<string, string>): Column<ApiKey> {
  return {
    id: 'owner',
    header: words.columns.owner,
    from: 'sm',
    sortBy: ({ user_uuid: id }) => owners.get(id) ?? '',
    cell: ({ user_uuid: id }) => (
      <span className="block max-w-40 truncate">{owners.get(id) ?? text.states.empty}</span>
    ),
  };
}

function teamColumn(teams: ReadonlyMap<string, string>): Column<ApiKey> {
  const nameOf = ({ team_id: id }: ApiKey) => (id === null ? '' : (teams.get(id) ?? ''));
  return {
    id: 'team',
    header: text.teams.team,
    from: 'xl',
    sortBy: nameOf,
    cell: (key) => (
      <span className="block max-w-36 truncate text-ink-soft">{nameOf(key) || text.states.empty}</span>
    ),
  };
}

function trafficColumns(day: TrafficDay | undefined): readonly Column<ApiKey>[] {
  const dayOf = ({ id }: ApiKey) => dayIn(day, id);
  const requestsOf = (key: ApiKey) => dayOf(key)?.requests;
  return [
    {
      id: 'requests',
      header: words.columns.requests,
      from: 'md',
      align: 'right',
      sortBy: (key) => requestsOf(key)?.total ?? -1,
      cell: (key) => <DayTraffic of={requestsOf(key)} />,
      total: (rows) => known(sumOf(rows.map(requestsOf)), formatCount),
    },
    {
      id: 'spend',
      header: words.columns.spend,
      align: 'right',
      sortBy: (key) => dayOf(key)?.spend.total ?? -1,
      cell: (key) => <DaySpend of={dayOf(key)} />,
      total: (rows) => <SpendTotal of={rows.map(dayOf)} />,
    },
  ];
}

function limitColumn({ limits, nameOf }: KeyColumnsSetup): Column<ApiKey> {
  return {
    id: 'budget',
    header: words.columns.budget,
    from: 'sm',
    sortBy: (key) => {
      const [usage] = limits?.(key) ?? [];
      return usage === undefined ? -1 : fullness(usage);
    },
    cell: (key) => {
      if (limits === undefined) return text.states.empty;
      const [usage] = limits(key);
      return usage === undefined ? (
        <span className="whitespace-nowrap text-ink-faint">{words.noBudget}</span>
      ) : (
        <KeyLimit usage={usage} nameOf={nameOf} />
      );
    },
  };
}

/** The limit, over what it applies to. */
function KeyLimit({ usage, nameOf }: { readonly usage: LimitUsage; readonly nameOf: NameOf }) {
  const place = limitPlace(usage, nameOf);
  return (
    <div className="max-w-52">
      <LimitBar usage={usage} />
      {place === null ? null : (
        <span className="relative z-10 block truncate text-xs text-ink-faint" title={place}>
          {place}
        </span>
      )}
    </div>
  );
}

const lastUsedColumn: Column<ApiKey> = {
  id: 'last-used',
  header: words.columns.lastUsed,
  from: 'md',
  sortBy: ({ last_used_at: at }) => at ?? '',
  cell: ({ last_used_at: last, first_used_at: first }) => (
    <span className="block whitespace-nowrap text-ink-soft">
      {last === null ? text.states.never : <Ago at={last} />}
      {first === null ? null : (
        <span className="block text-xs text-ink-faint">
          <Time at={first} format={(at) => words.firstUsed(formatDay(at))} />
        </span>
      )}
    </span>
  ),
};

/** The next to expire first. A key that ended says so here. */
const expiresColumn: Column<ApiKey> = {
  id: 'expires',
  header: words.columns.expires,
  from: 'lg',
  sortBy: ({ expires_at: at }) => at ?? '9999',
  cell: (key) => (key.status === 'active' ? <KeyExpiry of={key} /> : <KeyStatus of={key.status} />),
};

export function KeyStatus({ of }: { readonly of: ApiKey['status'] }) {
  return <Signal tone={TONES[of]}>{words.statuses[of]}</Signal>;
}

export function KeyExpiry({ of }: { readonly of: ApiKey }) {
  const { expires_at: at } = of;
  if (at === null) return <span className="text-ink-faint">{text.states.never}</span>;
  return isEnding(of, Date.now()) ? (
    <span className="whitespace-nowrap text-warn">
      <Ago at={at} />
    </span>
  ) : (
    <span className="whitespace-nowrap text-ink-soft">
      <Time at={at} format={formatDay} />
    </span>
  );
}
