import type { Alert } from '@relay/contract';
import { formatDateTime } from '../../format/times.ts';
import { amountOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { type Column, nameWidth } from '../../ui/data-table.tsx';
import { Ago } from '../../ui/time.tsx';
import { type LimitNames, sentenceOf } from './limit-words.ts';

const words = text.alerts;

type State = keyof typeof words.sent;
const TONES: Readonly<Record<State, Tone>> = {
  pending: 'warn',
  delivered: 'good',
  dead: 'bad',
  nowhere: 'neutral',
};

export function alertColumns(names: LimitNames): readonly Column<Alert>[] {
  return [
    {
      id: 'what',
      header: words.columns.what,
      cell: ({ threshold_percent: percent, forecast_exhausted_at: at }) => (
        <Badge tone={percent === null || percent < 100 ? 'warn' : 'bad'}>
          {at === null ? words.reached(percent ?? 0) : words.forecast(formatDateTime(at))}
        </Badge>
      ),
    },
    {
      id: 'limit',
      header: words.columns.limit,
      width: nameWidth,
      cell: (alert) => <p className="truncate">{limitOf(alert, names)}</p>,
    },
    {
      id: 'used',
      header: words.columns.used,
      from: 'md',
      align: 'right',
      cell: ({ policy: { metric }, used, limit }) => (
        <span className="whitespace-nowrap tabular-nums">
          {words.usedOf(amountOf(metric, used), amountOf(metric, limit))}
        </span>
      ),
    },
    {
      id: 'sent',
      header: words.columns.sent,
      from: 'sm',
      cell: (alert) => <Sent alert={alert} />,
    },
    {
      id: 'when',
      header: words.columns.when,
      align: 'right',
      cell: ({ created_at: at }) => (
        <span className="whitespace-nowrap text-ink-soft">
          <Ago at={at} />
        </span>
      ),
    },
  ];
}

/** "$50.00 of spend each day on lane Assistant". */
function limitOf({ policy, limit }: Alert, names: LimitNames): string {
  const { policy_kind: kind, subject_id: subjectId, scope_type: scope, scope_id: scopeId } = policy;
  const { metric, period } = policy;
  return sentenceOf({ kind, subjectId, scope, scopeId, metric, period, limit }, names);
}

/** The worst state of its deliveries, with each of them on hover. */
function Sent({ alert: { deliveries } }: { readonly alert: Alert }) {
  const worst = (['dead', 'pending', 'delivered'] as const).find((state) =>
    deliveries.some((each) => each.state === state),
  );
  const state: State = worst ?? 'nowhere';
  const detail = deliveries.map(({ destination_name: name, state: each, attempts, last_error: error }) =>
    [name, words.sent[each], words.attempts(attempts), error].filter((part) => part !== null).join(' · '),
  );
  return (
    <span title={detail.join('\n')}>
      <Badge tone={TONES[state]}>{words.sent[state]}</Badge>
    </span>
  );
}
