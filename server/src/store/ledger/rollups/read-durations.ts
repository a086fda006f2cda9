import { type RawBuilder, sql } from 'kysely';
import type { Histogram } from '../../../domain/histogram.ts';

/** Time to first token has no counts of versions before, which did not keep them. */
export type Durations = 'wait' | 'latency' | 'ttft';

/** A histogram as statements return it. */
export interface StoredCounts {
  /** The counts of each rollup that has any, with semicolons between them; null for none. */
  readonly coarse: string | null;
  /** The bins of all rollups one after another, with commas between them; null for none. */
  readonly bins: string | null;
  readonly counts: string | null;
}

export const NO_DURATIONS: Histogram = { counts: new Map(), coarse: [] };

/** The columns of `StoredCounts` where no histogram is asked for. */
export const NO_COUNTS = sql`null as coarse, null as bins, null as counts`;

/**
 * The columns of `StoredCounts` over many rollups. Counts are added here and not by PostgreSQL, where a row for each bin costs ten times
 * as much, and a sum for each coarse bound is computed even for rollups that have none.
 */
export function countsOf(durations: Durations): RawBuilder<unknown> {
  return countsAs(durations, '');
}

/** The same columns with the name of the durations first, for statements that read several. */
export function namedCountsOf(durations: Durations): RawBuilder<unknown> {
  return countsAs(durations, `${durations}_`);
}

function countsAs(durations: Durations, prefix: string): RawBuilder<unknown> {
  const as = (part: keyof StoredCounts) => sql.ref(`${prefix}${part}`);
  const coarse = durations === 'ttft' ? sql`null` : joined(`rollup.${durations}_histogram`, ';');
  const [bins, counts] = [joined(`rollup.${durations}_bins`), joined(`rollup.${durations}_counts`)];
  return sql`${coarse} as ${as('coarse')}, ${bins} as ${as('bins')}, ${counts} as ${as('counts')}`;
}

function joined(column: string, between = ','): RawBuilder<unknown> {
  return sql`string_agg(nullif(array_to_string(${sql.ref(column)}, ','), ''), ${sql.lit(between)})`;
}

export function histogramIn({ coarse, bins, counts }: StoredCounts): Histogram {
  const total = new Map<number, number>();
  const times = numbersIn(counts);
  for (const [place, bin] of numbersIn(bins).entries())
    total.set(bin, (total.get(bin) ?? 0) + (times[place] ?? 0));
  return { coarse: coarseIn(coarse), counts: total };
}

function coarseIn(text: string | null): number[] {
  const sums: number[] = [];
  for (const counts of text?.split(';') ?? [])
    for (const [place, count] of numbersIn(counts).entries()) sums[place] = (sums[place] ?? 0) + count;
  return sums;
}

const COMMA = 44;
const MINUS = 45;
const ZERO = 48;

/** Separated by commas. Digit by digit: statistics of many endpoints have a million numbers, and to split them costs twice as much. */
export function numbersIn(text: string | null): number[] {
  if (text === null) return [];
  const numbers: number[] = [];
  let number = 0;
  let sign = 1;
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    if (code === COMMA) {
      numbers.push(sign * number);
      [number, sign] = [0, 1];
    } else if (code === MINUS) sign = -1;
    else number = number * 10 + code - ZERO;
  }
  numbers.push(sign * number);
  return numbers;
}
