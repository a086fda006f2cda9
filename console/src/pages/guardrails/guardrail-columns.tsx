import type { Guardrail, GuardrailTotals } from '@relay/contract';
import { formatCompact, formatDuration } from '../../format/numbers.ts';
import { StateBadges } from '../../parts/health-badge.tsx';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { classes } from '../../ui/class-names.ts';
import { type Column, nameWidth, RowActions, RowName } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Switch } from '../../ui/switch.tsx';
import { BoundToLine } from './bound-to.tsx';
import { hostOf, phaseOf } from './guardrail-words.ts';
import { useGuardrailSwitch } from './use-guardrail-switch.tsx';

const words = text.guardrails;

type Total = GuardrailTotals['guardrails'][number];
/** By guardrail ID; undefined while loading. */
type Totals = ReadonlyMap<string, Total> | undefined;

export function columnsOf(totals: Totals, open: (id: string) => void): readonly Column<Guardrail>[] {
  return [
    {
      id: 'name',
      header: words.columns.name,
      sortBy: ({ name }) => name,
      cell: ({ id, name, base_url: url }) => (
        <>
          <RowName note={hostOf(url)} onOpen={() => open(id)}>
            {name}
          </RowName>
          <p className="truncate text-xs text-ink-faint sm:hidden">
            {totals === undefined ? '' : verdictWords(totals.get(id))}
          </p>
        </>
      ),
      width: nameWidth,
    },
    {
      id: 'asked',
      header: words.columns.asked,
      from: 'md',
      sortBy: phaseOf,
      cell: (guardrail) => <span className="whitespace-nowrap">{phaseOf(guardrail)}</span>,
    },
    {
      id: 'failure',
      header: words.columns.failure,
      from: 'lg',
      sortBy: ({ failure_mode: mode }) => words.failures[mode],
      cell: ({ failure_mode: mode }) => <span className="whitespace-nowrap">{words.failures[mode]}</span>,
    },
    {
      id: 'bound',
      header: words.columns.bound,
      from: 'md',
      sortBy: ({ binding_count: count }) => count,
      cell: (guardrail) => <BoundToLine guardrail={guardrail} />,
    },
    {
      id: 'verdicts',
      header: words.columns.verdicts,
      align: 'right',
      from: 'sm',
      sortBy: ({ id }) => askedOf(totals?.get(id)),
      cell: ({ id }) => <VerdictCell isReady={totals !== undefined} total={totals?.get(id)} />,
    },
    {
      id: 'latency',
      header: words.columns.latency,
      align: 'right',
      from: 'lg',
      sortBy: ({ id }) => totals?.get(id)?.latency_ms_p95 ?? -1,
      cell: ({ id }) => <LatencyCell isReady={totals !== undefined} total={totals?.get(id)} />,
    },
    {
      id: 'enabled',
      header: words.columns.enabled,
      align: 'right',
      sortBy: ({ enabled }) => Number(enabled),
      cell: (guardrail) => <EnabledCell guardrail={guardrail} />,
    },
  ];
}

function askedOf(total: Total | undefined): number {
  if (total === undefined) return 0;
  return total.allowed + total.flagged + total.replaced + total.blocked + total.unavailable;
}

/** The verdicts in one line, for narrow windows. */
function verdictWords(total: Total | undefined): string {
  if (total === undefined) return words.notAsked;
  return [words.checks(askedOf(total)), troubleOf(total)].join(' · ');
}

function troubleOf({ blocked, unavailable }: Total): string {
  const parts = [
    blocked > 0 ? words.blockedShort(formatCompact(blocked)) : null,
    unavailable > 0 ? words.unavailableShort(formatCompact(unavailable)) : null,
  ];
  return parts.filter((part) => part !== null).join(' · ') || words.nothingElse;
}

interface TotalCellProps {
  readonly isReady: boolean;
  readonly total: Total | undefined;
}

function VerdictCell({ isReady, total }: TotalCellProps) {
  if (!isReady) return <Skeleton className="ml-auto w-12" />;
  if (total === undefined) return <span className="whitespace-nowrap text-ink-faint">{words.notAsked}</span>;
  const { blocked, unavailable } = total;
  return (
    <div className="leading-snug whitespace-nowrap">
      <div>{formatCompact(askedOf(total))}</div>
      <div className={classes('text-xs', blocked + unavailable > 0 ? 'text-bad' : 'text-ink-faint')}>
        {troubleOf(total)}
      </div>
    </div>
  );
}

function LatencyCell({ isReady, total }: TotalCellProps) {
  if (!isReady) return <Skeleton className="ml-auto w-12" />;
  const p95 = total?.latency_ms_p95 ?? null;
  return p95 === null ? <span className="text-ink-faint">{text.charts.empty}</span> : formatDuration(p95);
}

function EnabledCell({ guardrail }: { readonly guardrail: Guardrail }) {
  const { can } = useAccess();
  const { toggle, error, isPending, dialog } = useGuardrailSwitch(guardrail);
  if (!can('updateGuardrail') || guardrail.managed_by === 'file')
    return <StateBadges enabled={guardrail.enabled} managedBy={guardrail.managed_by} />;
  return (
    <RowActions>
      <div className="flex flex-col items-end gap-1">
        <Switch
          checked={guardrail.enabled}
          onChange={toggle}
          disabled={isPending}
          label={words.enable(guardrail.name)}
        />
        <ErrorNote error={error} />
        {dialog}
      </div>
    </RowActions>
  );
}
