import { parseArgs } from 'node:util';
import { checkoutAt } from '../checkouts/checkout.ts';
import { type Slices, sliceOptions, slicesOf } from '../command-line.ts';

const PARTS = ['requests', 'policies', 'streams', 'latency', 'big-body'] as const;
export type Part = (typeof PARTS)[number];

export const OVERHEAD_USAGE = `overhead: the gateway's CPU and latency, compared with the bare engine and Portkey's gateway
  --slices N       rounds of each part (20)
  --slice-ms N     length of a slice of latency (1000)
  --short          a smoke run: 3 short slices, even on a busy machine; its results are not meaningful
  --only PART      ${PARTS.join(', ')}; may be repeated
  --against DIR    another checkout, with its dependencies installed, to alternate with this one
  --no-build       measure the packages in dist without running npm run build first
  --portkey DIR    where @portkey-ai/gateway is installed, if it can't be resolved from here
  --profile DIR    write CPU profiles of the gateways there (slows them down)`;

export interface Settings extends Slices {
  readonly parts: readonly Part[];
  /** The root of the other checkout. */
  readonly against: string | undefined;
  /** Whether the packages are built first. */
  readonly build: boolean;
  readonly portkeyDirectory: string | undefined;
  readonly nodeFlags: readonly string[];
}

export function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...sliceOptions,
      only: { type: 'string', multiple: true, default: [...PARTS] },
      against: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
      portkey: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const parts = PARTS.filter((part) => values.only.includes(part));
  if (parts.length !== new Set(values.only).size)
    throw new Error(`--only must be one of ${PARTS.join(', ')}`);
  const profile =
    values.profile === undefined
      ? []
      : ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${values.profile}`];
  return {
    ...slicesOf(values, { sliceMs: 1_000, shortSliceMs: 250 }),
    parts,
    against: values.against === undefined ? undefined : checkoutAt(values.against).root,
    build: !values['no-build'],
    portkeyDirectory: values.portkey,
    nodeFlags: profile,
  };
}
