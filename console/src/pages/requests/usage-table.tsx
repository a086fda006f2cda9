import type { RequestDetail } from '@relay/contract';
import { formatCount, formatMoney } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';

const words = text.requests.detail.usage;

type Line = readonly [
  name: string,
  estimated: number | null | undefined,
  actual: number | null,
  format: (value: number) => string,
];

/** The estimates at admission and the actual usage. */
export function UsageTable({ detail }: { readonly detail: RequestDetail }) {
  const { estimated_input_tokens: input, estimated_output_tokens: output } = detail;
  const all = input === null || output === null ? null : input + output;
  // Undefined means no estimate exists; null means unknown, which is not zero.
  const lines: readonly Line[] = [
    [words.rows.input, input, detail.input_tokens, formatCount],
    [words.rows.cached, undefined, detail.cached_input_tokens, formatCount],
    ...writesOf(detail),
    [words.rows.output, output, detail.output_tokens, formatCount],
    [words.rows.total, all, detail.total_tokens, formatCount],
    [words.rows.cost, detail.estimated_cost_micros, detail.cost_micros, formatMoney],
  ];
  return (
    <table className="w-full">
      <thead>
        <tr className="text-xs text-ink-faint">
          <th scope="col" className="h-7 text-left font-normal">
            {words.quantity}
          </th>
          <th scope="col" className="text-right font-normal">
            {words.estimated}
          </th>
          <th scope="col" className="text-right font-normal">
            {words.actual}
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map(([name, estimated, actual, format]) => (
          <tr
            key={name}
            className="last:border-t last:border-dashed last:border-line-strong last:text-[15px]"
          >
            <th scope="row" className="h-6 text-left font-normal text-ink-soft">
              {name}
            </th>
            <td className="text-right text-ink-faint">
              {estimated === undefined ? '' : shownAs(estimated, format)}
            </td>
            <td className="text-right">{shownAs(actual, format)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Where the counts come from, and what is odd about them. */
export function UsageNotes({ detail }: { readonly detail: RequestDetail }) {
  return (
    <>
      <p>{sourceWords(detail)}</p>
      {detail.reported_usage === null ? null : <p>{reportWords(detail, detail.reported_usage)}</p>}
    </>
  );
}

/** Without usage, says that nothing was sent, or that the provider reported none. */
function sourceWords({ usage_source: source, attempts }: RequestDetail): string {
  const sources = new Set(attempts.map((each) => each.usage_source).filter((each) => each !== 'none'));
  if (sources.size > 1) return words.sources.mixed;
  return source === 'none' && attempts.some(({ sent }) => sent)
    ? words.sources.failed
    : words.sources[source];
}

/** A report beyond what a hard limit had reserved is charged in full; one that cannot be true is not. */
function reportWords(
  { attempts }: RequestDetail,
  reported: NonNullable<RequestDetail['reported_usage']>,
): string {
  const isCounted = attempts.some(
    ({ input_tokens: input, output_tokens: output }) =>
      input === reported.input_tokens && output === reported.output_tokens,
  );
  if (isCounted) return words.overReserved;
  return words.bounded(formatCount(reported.input_tokens), formatCount(reported.output_tokens));
}

/** Few requests write to a cache, so the others have no lines for it. */
function writesOf({ cache_write_5m_tokens: short, cache_write_1h_tokens: long }: RequestDetail): Line[] {
  const lines: Line[] = [
    [words.rows.written5m, undefined, short, formatCount],
    [words.rows.written1h, undefined, long, formatCount],
  ];
  return lines.filter(([, , tokens]) => tokens !== null && tokens > 0);
}

function shownAs(value: number | null, format: (value: number) => string) {
  return value === null ? <span className="font-normal text-ink-faint">{words.unknown}</span> : format(value);
}
