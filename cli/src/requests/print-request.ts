import type { components } from '@relay/contract/api-types';
import { isPastWaitBudget, unsuccessfulAttempt } from '@relay/contract/words';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollars, milliseconds, numberText, timeText } from '../output/cells.ts';
import { boundPolicyWords } from '../output/limit-words.ts';
import { tableStyle } from '../output/print.ts';
import { renderFields, renderTable } from '../output/table.ts';
import { verdictWord } from '../output/verdict-word.ts';

type Detail = components['schemas']['RequestDetail'];

type Attempt = Detail['attempts'][number];

/** Only for an attempt whose credential or address the provider rejected, so it is not always shown. */
const MESSAGE = {
  title: 'provider message',
  value: ({ upstream_message }: Attempt) => upstream_message,
  elastic: true,
};

function attemptColumns(attempts: readonly Attempt[]) {
  return [
    { title: 'attempt', value: ({ attempt }: Attempt) => attempt, align: 'right' as const },
    { title: 'upstream model', value: ({ upstream_model }: Attempt) => upstream_model },
    { title: 'outcome', value: ({ outcome }: Attempt) => outcome },
    { title: 'status', value: ({ upstream_status }: Attempt) => upstream_status },
    { title: 'error', value: ({ error_code }: Attempt) => error_code },
    { title: 'tokens', value: (attempt: Attempt) => (attempt.sent ? tokens(attempt) : 'not sent') },
    { title: 'cost', value: ({ cost_micros }: Attempt) => dollars(cost_micros), align: 'right' as const },
    ...(attempts.some(({ upstream_message }) => upstream_message !== null) ? [MESSAGE] : []),
    {
      title: 'latency',
      value: ({ duration_ms }: Attempt) => milliseconds(duration_ms),
      align: 'right' as const,
    },
  ];
}

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
          'operation',
          `${detail.operation}, model ${detail.model ?? '-'}${detail.streaming ? ', streaming' : ''}`,
        ],
        ['served by', detail.upstream_model],
        ['tokens', tokens(detail)],
        ['cost', `${dollars(detail.cost_micros)} (estimate ${dollars(detail.estimated_cost_micros)})`],
        ['waited', waited(detail)],
        ['latency', milliseconds(detail.duration_ms)],
        ['fallbacks', detail.fallback_count],
        ['limited by', detail.bound_policy === null ? '-' : boundPolicyWords(detail.bound_policy)],
        [
          'guardrails',
          detail.guardrails.map(({ stage, verdict }) => `${stage} ${verdict}`).join(', ') || 'none',
        ],
      ],
      style,
    ),
  );
  if (detail.attempts.length > 0)
    stdout.write(`\n${renderTable(detail.attempts, attemptColumns(detail.attempts), style)}`);
  if (detail.candidates.length > 0) {
    const columns = [
      { title: 'rank', value: ({ rank }: Detail['candidates'][number]) => rank, align: 'right' as const },
      {
        title: 'candidate',
        value: ({ endpoint_name, endpoint_id }: Detail['candidates'][number]) => endpoint_name ?? endpoint_id,
      },
      {
        title: 'result',
        value: (candidate: Detail['candidates'][number]) =>
          unsuccessfulAttempt(detail.attempts, candidate.endpoint_id)?.outcome ?? verdictWord(candidate),
      },
      { title: 'reason', value: ({ reason }: Detail['candidates'][number]) => reason, elastic: true },
    ];
    stdout.write(`\n${renderTable(detail.candidates, columns, style)}`);
  }
}

type Used = Pick<Detail, 'input_tokens' | 'output_tokens' | 'usage_source'>;

function tokens({ input_tokens, output_tokens, usage_source }: Used): string {
  if (input_tokens === null && output_tokens === null) return usage_source;
  return `${numberText(input_tokens)} input · ${numberText(output_tokens)} output (${usage_source})`;
}

function waited(detail: Detail): string {
  const wait = milliseconds(detail.wait_ms);
  if (!isPastWaitBudget(detail)) return wait;
  return `${wait}, past its wait budget of ${milliseconds(detail.wait_budget_ms)}`;
}
