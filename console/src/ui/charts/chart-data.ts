import type { Bucket } from '../../format/times.ts';

export type ChartTone = 'good' | 'bad' | 'warn' | 'wait' | 'neutral';
export type ChartKind = 'area' | 'bar' | 'line';

export interface ChartSeries {
  /** Unique within the chart. `other` is already a sum: it stays last and gray. */
  readonly key: string;
  readonly label: string;
  /** For states; other series take the palette in order. */
  readonly tone?: ChartTone;
  readonly points: readonly { readonly at: string; readonly value: number | null }[];
}

/** A series with its style. */
export interface DrawnSeries extends ChartSeries {
  /** The key of its values in a row. */
  readonly column: string;
  readonly colour: string;
  /** Yellow is close to paper, so a yellow shape has an edge. */
  readonly edge: string | undefined;
  /** Distinguishes lines besides the color. */
  readonly dash: string | undefined;
}

type WritableRow = { at: string } & Record<string, string | number | null>;
export type ChartRow = Readonly<WritableRow>;

const OTHER_KEY = 'other';
const SERIES_MAX = 8;
const DASHES = [undefined, '6 3', '2 3'] as const;

/** The series to draw, at most eight. The rest is summed if values add up; otherwise only counted. */
export function foldSeries(
  series: readonly ChartSeries[],
  kind: ChartKind,
  otherLabel: string,
): { readonly drawn: readonly DrawnSeries[]; readonly left: number } {
  const named = series.filter((each) => each.key !== OTHER_KEY);
  const given = series.filter((each) => each.key === OTHER_KEY);
  const fits = named.length + given.length <= SERIES_MAX;
  if (fits) return { drawn: withLooks([...named, ...given]), left: 0 };
  const stacked = kind !== 'line';
  const kept = new Set(largest(named, stacked ? SERIES_MAX - 1 : SERIES_MAX));
  const rest = [...named.filter((each) => !kept.has(each)), ...given];
  const first = named.filter((each) => kept.has(each));
  // A median of medians is not a median, so these series are left out and counted.
  if (!stacked) return { drawn: withLooks(first), left: rest.length };
  return { drawn: withLooks([...first, sumOf(rest, otherLabel)]), left: 0 };
}

/** One row for each time, with the values of all series. */
export function rowsOf(drawn: readonly DrawnSeries[]): readonly ChartRow[] {
  const rows = new Map<string, WritableRow>();
  for (const { column, points } of drawn)
    for (const { at, value } of points) {
      const row: WritableRow = rows.get(at) ?? { at };
      row[column] = value;
      rows.set(at, row);
    }
  return [...rows.values()].sort((a, b) => a.at.localeCompare(b.at));
}

export function valueIn(row: ChartRow, column: string): number | null {
  const value = row[column];
  return typeof value === 'number' ? value : null;
}

/** Room for six characters, so that charts below each other line up. */
const AXIS_PX_MIN = 48;
const LETTER_PX = 6.2;
const AXIS_GAP_PX = 10;

/** The width of the value axis. Recharts measures its labels too early when a chart without values gets some. */
export function axisWidthPx(
  rows: readonly ChartRow[],
  drawn: readonly Pick<DrawnSeries, 'column'>[],
  kind: ChartKind,
  format: (value: number) => string,
): number {
  let top = 0;
  for (const row of rows) {
    const values = drawn.map(({ column }) => valueIn(row, column) ?? 0);
    top = Math.max(
      top,
      kind === 'line' ? Math.max(0, ...values) : values.reduce((sum, each) => sum + each, 0),
    );
  }
  const longest = Math.max(...[1, 0.75, 0.5, 0.25].map((part) => format(top * part).length));
  return Math.max(AXIS_PX_MIN, Math.ceil(longest * LETTER_PX) + AXIS_GAP_PX);
}

const BUCKET_MS: Record<Bucket, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** The end of the bucket that starts at this time. */
export function endOf(at: string, bucket: Bucket): string {
  return new Date(Date.parse(at) + BUCKET_MS[bucket]).toISOString();
}

const STEPS: Record<Bucket, readonly number[]> = {
  minute: [1, 2, 5, 10, 15, 30, 60, 120, 360],
  hour: [1, 2, 3, 6, 12, 24, 48],
  day: [1, 2, 7, 14, 28, 91],
};

/** The times with a tick on the axis: full steps in the reader's time zone, about as many as fit. */
export function ticksOf(rows: readonly ChartRow[], bucket: Bucket, room: number): string[] {
  const step = STEPS[bucket].find((each) => rows.length / each <= room) ?? STEPS[bucket].at(-1) ?? 1;
  return rows.map((row) => row.at).filter((at, index) => placeOf(at, index, bucket) % step === 0);
}

function placeOf(at: string, index: number, bucket: Bucket): number {
  if (bucket === 'day') return index;
  const date = new Date(at);
  const hours = Math.floor((Date.parse(at) - date.getTimezoneOffset() * 60_000) / BUCKET_MS.hour);
  return bucket === 'hour' ? hours : hours * 60 + date.getMinutes();
}

const TONES: Readonly<Record<ChartTone, Pick<DrawnSeries, 'colour' | 'edge'>>> = {
  good: { colour: 'var(--chart-good)', edge: undefined },
  bad: { colour: 'var(--chart-bad)', edge: undefined },
  warn: { colour: 'var(--chart-warn)', edge: undefined },
  wait: { colour: 'var(--wait)', edge: 'var(--wait-edge)' },
  neutral: { colour: 'var(--chart-neutral)', edge: undefined },
};

function withLooks(series: readonly ChartSeries[]): readonly DrawnSeries[] {
  let next = 0;
  return series.map((each, index) => {
    const column = `s${index}`;
    const plain = { ...each, column, edge: undefined, dash: undefined };
    if (each.key === OTHER_KEY) return { ...plain, colour: 'var(--series-other)', dash: '2 3' };
    if (each.tone !== undefined) return { ...plain, ...TONES[each.tone] };
    next += 1;
    return { ...plain, colour: `var(--series-${next})`, dash: DASHES[Math.floor((next - 1) / 3)] };
  });
}

/** The square beside a label. */
export function swatchOf({ colour, edge }: DrawnSeries) {
  return { backgroundColor: colour, ...(edge !== undefined && { boxShadow: `inset 0 0 0 1px ${edge}` }) };
}

function largest(series: readonly ChartSeries[], count: number): readonly ChartSeries[] {
  const sizes = new Map(series.map((each) => [each, sizeOf(each)]));
  return [...series].sort((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0)).slice(0, count);
}

function sizeOf({ points }: ChartSeries): number {
  return points.reduce((sum, { value }) => sum + (value ?? 0), 0);
}

function sumOf(series: readonly ChartSeries[], label: string): ChartSeries {
  const sums = new Map<string, number>();
  for (const { points } of series)
    for (const { at, value } of points) sums.set(at, (sums.get(at) ?? 0) + (value ?? 0));
  return { key: OTHER_KEY, label, points: [...sums].map(([at, value]) => ({ at, value })) };
}
