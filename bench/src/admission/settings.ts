import { parseArgs } from 'node:util';
import { type Checkout, checkoutAt, checkoutOf } from '../checkouts/checkout.ts';
import { positive } from '../command-line.ts';
import { ROOT } from '../gateways/gateway.ts';

/** The edition before batches and packed windows, which the figures compare with. */
const BEFORE = 'b71b826';
const PARTS = ['engine', 'product'] as const;
export type Part = (typeof PARTS)[number];

export const ADMISSION_USAGE = `admission: Redis CPU and bytes per request, with 2 candidates of 6 limits each, compared with commit ${BEFORE}
  --slices N       rounds (20)
  --requests N     requests per slice (1024)
  --short          a smoke run: 2 rounds of 128 requests; its results are not meaningful
  --only PART      ${PARTS.join(', ')}; may be repeated
  --against DIR    another checkout, with its dependencies installed, to compare with instead of ${BEFORE}`;

export interface Settings {
  readonly slices: number;
  readonly requests: number;
  readonly parts: readonly Part[];
  /** Makes the other checkout, when there is none yet. */
  openBefore(): Checkout;
}

export function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      slices: { type: 'string' },
      requests: { type: 'string' },
      short: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [...PARTS] },
      against: { type: 'string' },
    },
  });
  const parts = PARTS.filter((part) => values.only.includes(part));
  if (parts.length !== new Set(values.only).size)
    throw new Error(`--only must be one of ${PARTS.join(', ')}`);
  const { short, against } = values;
  return {
    slices: positive('--slices', values.slices ?? (short ? '2' : '20')),
    requests: positive('--requests', values.requests ?? (short ? '128' : '1024')),
    parts,
    openBefore: () => (against === undefined ? checkoutOf(ROOT, BEFORE) : checkoutAt(against)),
  };
}
