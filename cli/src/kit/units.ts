import { dollarWords, durationWords, microsOf } from '@relay/contract/words';
import { InvalidArgumentError } from 'commander';

/** What people call a field whose API name ends in its unit. */
const NAMES: Readonly<Record<string, string>> = {
  default_max_wait_ms: 'wait_budget',
  max_latency_ms: 'timeout',
  flat_request_cost_micros: 'request_price',
};

export type Unit = 'ms' | 'micros' | 'micros_per_1m_tokens' | null;

export interface FieldName {
  readonly name: string;
  readonly unit: Unit;
}

/** The name and the unit of a field: `timeout` in `ms` for `max_latency_ms`. */
export function fieldName(field: string): FieldName {
  const unit = unitOf(field);
  const short = field.replace(/_cost_micros_per_1m_tokens$/, '_price').replace(/_(ms|micros)$/, '');
  return { name: NAMES[field] ?? short, unit };
}

function unitOf(field: string): Unit {
  if (field.endsWith('_ms')) return 'ms';
  if (field.endsWith('_micros_per_1m_tokens')) return 'micros_per_1m_tokens';
  return field.endsWith('_micros') ? 'micros' : null;
}

/** The amount as people read it: `30 s`, `$2.50`, `$2.50 / 1M tokens`. */
export function inWords(amount: number, unit: Unit): string {
  if (unit === null) return String(amount);
  if (unit === 'ms') return durationWords(amount);
  return unit === 'micros' ? dollarWords(amount) : `${dollarWords(amount)} / 1M tokens`;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `500ms`, `30s`, `15m`, `24h`, `7d` or `2w`, in milliseconds. */
export function durationMs(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,9}) ?(ms|s|min|m|h|d|w)$/.exec(text.trim()) ?? [];
  if (amount !== undefined) return Number(amount) * (UNIT_MS[unit] ?? 0);
  if (text.trim() === '0') return 0;
  throw new InvalidArgumentError('Write it like 500ms, 30s, 15m, 24h or 7d.');
}

/** Dollars in micro-USD, exact: `50`, `$50`, `$1,250.75`. */
export function dollarsToMicros(text: string): number {
  const micros = microsOf(text.trim().replace(/^\$/, ''));
  if (micros === undefined) throw new InvalidArgumentError('Write it in dollars, like 50 or $12.50.');
  return micros;
}
