import { type RawBuilder, sql } from 'kysely';
import { COARSE_BOUNDS_MS, type Histogram } from '../../../domain/histogram.ts';

/** Time to first token has no counts of versions before, which did not keep them. */
export type Durations = 'wait' | 'latency' | 'ttft';

/** A histogram as statements return it. */
export interface StoredCounts {
  /** Elements of a bigint array arrive as text. */
  readonly coarse: readonly unknown[];
  /** The bins of all rollups one after another, with commas between them; null for none. */
  readonly bins: string | null;
  readonly counts: string | null;
}

export const NO_DURATIONS: Histogram = { counts: new Map(), coarse: [] };

/** The columns of `StoredCounts` where no histogram is asked for. */
export const NO_COUNTS = sql`'{}'::bigint[] as coarse, null as bins, null as counts`;

/**
 * The columns of `StoredCounts` over many rollups. Bins are added here and not by PostgreSQL, where a row for each of them costs
 * ten times as much.
 */
export function countsOf(durations: Durations): RawBuilder<unknown> {
  const fine = sql`${joinedBins(durations)} as bins, ${joinedCounts(durations)} as counts`;
  if (durations === 'ttft') return sql`'{}'::bigint[] as coarse, ${fine}`;
  const coarse = sql.ref(`rollup.${durations}_histogram`);
  const places = Array.from(
    { length: COARSE_BOUNDS_MS.length + 1 },
    (_, place) => sql`coalesce(sum(${coarse}[${sql.lit(place + 1)}]), 0)`,
  );
  return sql`array[${sql.join(places)}]::bigint[] as coarse, ${fine}`;
}

export function joinedBins(durations: Durations): RawBuilder<unknown> {
  return joined(`rollup.${durations}_bins`);
}

export function joinedCounts(durations: Durations): RawBuilder<unknown> {
  return joined(`rollup.${durations}_counts`);
}

function joined(column: string): RawBuilder<unknown> {
  return sql`string_agg(nullif(array_to_string(${sql.ref(column)}, ','), ''), ',')`;
}

export function histogramIn({ coarse, bins, counts }: StoredCounts): Histogram {
  const total = new Map<number, number>();
  const times = counts?.split(',') ?? [];
  const pairs = (bins?.split(',') ?? []).map((bin, place) => [Number(bin), Number(times[place])] as const);
  for (const [bin, count] of pairs) total.set(bin, (total.get(bin) ?? 0) + count);
  return { coarse: coarse.map(Number), counts: total };
}
