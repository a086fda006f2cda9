import type { components } from '@relay/contract/api-types';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollars, milliseconds, timeText } from '../output/cells.ts';
import { tableStyle } from '../output/print.ts';
import { renderFields, renderTable } from '../output/table.ts';

type Detail = components['schemas']['RequestDetail'];

/** Only for an attempt whose credential or address the provider rejected, so it is not always shown. */
const MESSAGE = {
  title: 'provider says',
  value: ({ upstream_message }: Detail['attempts'][number]) => upstream_message,
  elastic: true,
};

/** One request in chronological order. */
export function printRequest(surroundings: Surroundings, detail: Detail): void {
  const { stdout } = surroundings;
  const style = tableStyle(surroundings);
  stdout.write(
    renderFields(
      [
        ['request', detail.request_id],
        ['arrived', timeText(detail.arrived_at)],
        [
          'state',
          `${detail.state}, ${detail.http_status}${detail.error_code === null ? '' : ` ${detail.error_code}`}`,
        ],
        [
          'asked for',
          `${detail.operation} of ${detail.model ?? 'nothing'}${detail.streaming ? ', streaming' : ''}`,
        ],
        ['served by', detail.upstream_model],
        ['tokens', tokens(detail)],
        ['cost', `${dollars(detail.cost_micros)} (estimated ${dollars(detail.estimated_cost_micros)})`],
        ['waited', milliseconds(detail.wait_ms)],
        ['took', milliseconds(detail.duration_ms)],
        ['fallbacks', detail.fallback_count],
        ['bound by', boundBy(detail)],
        [
          'guardrails',
          detail.guardrails.map(({ stage, verdict }) => `${stage} ${verdict}`).join(', ') || 'none',
        ],
      ],
      style,
    ),
  );
  if (detail.attempts.length > 0) {
    const columns = [
      {
        title: 'attempt',
        value: ({ attempt }: Detail['attempts'][number]) => attempt,
        align: 'right' as const,
      },
      { title: 'upstream model', value: ({ upstream_model }: Detail['attempts'][number]) => upstream_model },
      { title: 'outcome', value: ({ outcome }: Detail['attempts'][number]) => outcome },
      { title: 'status', value: ({ upstream_status }: Detail['attempts'][number]) => upstream_status },
      { title: 'error', value: ({ error_code }: Detail['attempts'][number]) => error_code },
      ...(detail.attempts.some(({ upstream_message }) => upstream_message !== null) ? [MESSAGE] : []),
      {
        title: 'took',
        value: ({ duration_ms }: Detail['attempts'][number]) => milliseconds(duration_ms),
        align: 'right' as const,
      },
    ];
    stdout.write(`\n${renderTable(detail.attempts, columns, style)}`);
  }
  if (detail.candidates.length > 0) {
    const columns = [
      { title: 'rank', value: ({ rank }: Detail['candidates'][number]) => rank, align: 'right' as const },
      {
        title: 'candidate',
        value: ({ endpoint_name, endpoint_id }: Detail['candidates'][number]) => endpoint_name ?? endpoint_id,
      },
      { title: 'verdict', value: ({ verdict }: Detail['candidates'][number]) => verdict },
      { title: 'reason', value: ({ reason }: Detail['candidates'][number]) => reason, elastic: true },
    ];
    stdout.write(`\n${renderTable(detail.candidates, columns, style)}`);
  }
}

function tokens({ input_tokens, output_tokens, usage_source }: Detail): string {
  if (input_tokens === null && output_tokens === null) return usage_source;
  return `${input_tokens ?? '-'} in, ${output_tokens ?? '-'} out (${usage_source})`;
}

function boundBy({ bound_policy }: Detail): string {
  if (bound_policy === null) return 'nothing';
  const { policy_kind, scope_type, metric, period } = bound_policy;
  return `the ${policy_kind} limit of ${metric} each ${period} on ${scope_type}`;
}
