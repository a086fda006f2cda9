import type { RequestDetail } from '@relay/contract';

const PICOS_DIGITS = 12;
const PICOS_PER_MICRO = 1_000_000n;
/** As many as a limit counts; more where the smallest part needs them. */
const DIGITS_MIN = 6;

type CostLine = NonNullable<RequestDetail['cost_lines']>[number];

export interface ReceiptPart {
  /** Its number; the first is 1. */
  readonly attempt: number;
  readonly lines: readonly { readonly line: CostLine; readonly cost: string }[];
}

/** The exact amounts of a request, all with the same number of decimals. */
export interface Receipt {
  /** One for each attempt that used something. */
  readonly attempts: readonly ReceiptPart[];
  readonly total: string;
  /** The estimate, and what of it was not used or was used beyond it; null without an estimate. */
  readonly estimate: { readonly reserved: string; readonly rest: string; readonly isOver: boolean } | null;
}

/** Null where the server does not know what the cost is made of. */
export function receiptOf({
  cost_lines: lines,
  cost_usd: usd,
  estimated_cost_micros: estimated,
}: Pick<RequestDetail, 'cost_lines' | 'cost_usd' | 'estimated_cost_micros'>): Receipt | null {
  if (lines === null || usd === null) return null;
  const digits = Math.max(DIGITS_MIN, ...[usd, ...lines.map(({ cost_usd }) => cost_usd)].map(decimalsOf));
  const shown = (picos: bigint) => dollars(picos, digits);
  const cost = picosOf(usd);
  const reserved = estimated === null ? null : BigInt(estimated) * PICOS_PER_MICRO;
  return {
    attempts: [...Map.groupBy(lines, ({ attempt }) => attempt)].map(([attempt, own]) => ({
      attempt,
      lines: own.map((line) => ({ line, cost: shown(picosOf(line.cost_usd)) })),
    })),
    total: shown(cost),
    estimate:
      reserved === null
        ? null
        : {
            reserved: shown(reserved),
            rest: shown(reserved > cost ? reserved - cost : cost - reserved),
            isOver: cost > reserved,
          },
  };
}

function decimalsOf(usd: string): number {
  return usd.split('.')[1]?.length ?? 0;
}

function picosOf(usd: string): bigint {
  const [whole = '0', part = ''] = usd.split('.');
  return BigInt(whole + part.padEnd(PICOS_DIGITS, '0'));
}

function dollars(picos: bigint, digits: number): string {
  const text = String(picos).padStart(PICOS_DIGITS + 1, '0');
  const whole = BigInt(text.slice(0, -PICOS_DIGITS)).toLocaleString('en-US');
  return `$${whole}.${text.slice(-PICOS_DIGITS).slice(0, digits)}`;
}
