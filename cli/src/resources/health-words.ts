import type { components } from '@relay/contract/api-types';
import { healthSentence, recentWords, type SeenHealth } from '@relay/contract/words';
import { type Cell, timeText } from '../output/cells.ts';
import type { Column, Tone } from '../output/table.ts';

type Seen = SeenHealth & { readonly health_detail: components['schemas']['HealthDetail'] };

const tones: Readonly<Record<SeenHealth['health'], Tone>> = {
  unknown: 'quiet',
  healthy: 'good',
  degraded: 'warn',
  down: 'bad',
  rate_limited: 'warn',
};

/** The state, and why it is not healthy. */
export function healthColumns<T extends SeenHealth>(): readonly Column<T>[] {
  return [
    { title: 'health', value: ({ health }) => health, tone: ({ health }) => tones[health] },
    { title: 'why', value: ({ health_detail }) => health_detail.reason, elastic: true },
  ];
}

/** The fields of one resource, with its health in words instead of JSON. */
export function withHealthWords(
  fields: readonly (readonly [string, Cell])[],
  seen: Seen,
  nowMs: number,
): readonly (readonly [string, Cell])[] {
  return fields.flatMap(([name, value]): readonly (readonly [string, Cell])[] => {
    if (name === 'health') return [[name, healthSentence(seen, nowMs)]];
    if (name !== 'health_detail') return [[name, value]];
    return [
      ['recent', recentWords(seen.health_detail)],
      ['last_error', lastErrorWords(seen.health_detail.last_error)],
    ];
  });
}

/** connection refused, 2026-01-31 12:00:00 UTC */
function lastErrorWords(error: Seen['health_detail']['last_error']): string {
  return error === null ? 'none' : `${error.message}, ${timeText(error.at)}`;
}
