import type { PricePlanRow } from '@relay/contract';
import { formatCount, formatFactor, formatMoney } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Check } from '../../ui/field.tsx';

const words = text.priceImport;
const TONES = {
  add: 'good',
  change: 'note',
  same: 'neutral',
  removed: 'warn',
  ambiguous: 'warn',
  unlisted: 'neutral',
} as const satisfies Record<PricePlanRow['action'], Tone>;

interface PricePlanListProps {
  readonly rows: readonly PricePlanRow[];
  readonly accepted: ReadonlySet<string>;
  readonly onAccept: (endpointId: string) => void;
}

/** Every price that changes, is held back or needs a look. */
export function PricePlanList({ rows, accepted, onAccept }: PricePlanListProps) {
  const listed = rows.filter(({ action }) => action !== 'same' && action !== 'unlisted');
  const countOf = (action: PricePlanRow['action']) => rows.filter((row) => row.action === action).length;
  return (
    <div className="space-y-3">
      {listed.length === 0 ? <p className="text-[13px]">{words.nothing}</p> : null}
      <ul aria-label={words.plan} className="divide-y rounded-lg border empty:hidden">
        {listed.map((row) => (
          <li key={row.endpoint_id} className="space-y-2 px-4 py-3">
            <div className="flex flex-wrap items-center gap-2">
              <span className="font-medium">{row.endpoint_name}</span>
              <span className="font-mono text-xs text-ink-soft">{row.upstream_model}</span>
              <Badge tone={row.held_back === null ? TONES[row.action] : 'bad'}>
                {row.held_back === null ? words.actions[row.action] : words.heldBack}
              </Badge>
            </div>
            <RowChanges row={row} />
            {row.held_back === null || row.managed_by_file ? null : (
              <Check
                label={words.accept(row.endpoint_name)}
                hint={
                  row.held_back === 'zero'
                    ? words.heldBackZero
                    : words.heldBackFactor(formatFactor(row.factor ?? 0))
                }
                checked={accepted.has(row.endpoint_id)}
                onChange={() => onAccept(row.endpoint_id)}
              />
            )}
          </li>
        ))}
      </ul>
      <p className="text-xs text-ink-faint">{words.others(countOf('same'), countOf('unlisted'))}</p>
    </div>
  );
}

function RowChanges({ row }: { readonly row: PricePlanRow }) {
  if (row.action === 'removed') return <Note>{words.removed}</Note>;
  if (row.action === 'ambiguous') return <Note>{words.ambiguous(row.listed_as.join(', '))}</Note>;
  return (
    <>
      {row.managed_by_file ? <Note>{words.file}</Note> : null}
      <ul className="space-y-0.5 text-[13px] text-ink-soft">
        {row.changes.map(({ field, before, after }) => (
          <li key={field}>
            {nameOf(field)}: {shown(before)} → <span className="text-ink">{shown(after)}</span>
            {isPerToken(field) && typeof after === 'number' ? ` ${text.endpoints.per}` : null}
          </li>
        ))}
        {row.context_window === null ? null : <li>{words.context(formatCount(row.context_window))}</li>}
      </ul>
    </>
  );
}

function Note({ children }: { readonly children: string }) {
  return <p className="text-[13px] text-ink-soft">{children}</p>;
}

const NAMES: Readonly<Record<string, string>> = {
  input_cost_micros_per_1m_tokens: text.endpoints.prices.input,
  output_cost_micros_per_1m_tokens: text.endpoints.prices.output,
  cached_input_cost_micros_per_1m_tokens: text.endpoints.prices.cachedInput,
  cache_write_5m_cost_micros_per_1m_tokens: text.endpoints.prices.parts.cacheWrite5m,
  cache_write_1h_cost_micros_per_1m_tokens: text.endpoints.prices.parts.cacheWrite1h,
  reasoning_cost_micros_per_1m_tokens: text.endpoints.prices.parts.reasoning,
  audio_input_cost_micros_per_1m_tokens: text.endpoints.prices.parts.audioInput,
  audio_output_cost_micros_per_1m_tokens: text.endpoints.prices.parts.audioOutput,
  image_input_cost_micros_per_1m_tokens: text.endpoints.prices.parts.imageInput,
  image_output_cost_micros_per_1m_tokens: text.endpoints.prices.parts.imageOutput,
  flat_request_cost_micros: text.endpoints.prices.flat,
  variants: words.variants,
};

function nameOf(field: string): string {
  return NAMES[field] ?? field;
}

function isPerToken(field: string): boolean {
  return field.endsWith('_per_1m_tokens');
}

function shown(value: unknown): string {
  if (typeof value === 'number') return formatMoney(value);
  return Array.isArray(value) ? formatCount(value.length) : words.none;
}
