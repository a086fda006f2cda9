import { formatCount, formatMoney } from '../../format/numbers.ts';
import { formatOrdinal } from '../../format/spans.ts';
import { placeOf, ruleOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';
import type { LimitRow } from './limit-row.ts';

const words = text.limits;

/** Looks up the names of owners and scopes. */
export interface LimitNames {
  readonly scope: (row: Pick<LimitRow, 'scope' | 'scopeId'>) => string;
  /** Null for a shared limit. */
  readonly subject: (row: Pick<LimitRow, 'kind' | 'subjectId'>) => string | null;
}

type Rule = Pick<LimitRow, 'metric' | 'period' | 'limit'>;

type Place = Pick<LimitRow, 'kind' | 'subjectId' | 'scope' | 'scopeId'>;

/** "on lane Assistant", "for key Support bot". */
export function whereOf(place: Place, names: LimitNames): string {
  return placeOf(place, names.scope(place), names.subject(place));
}

/** "$50.00 per day on lane Assistant". */
export function sentenceOf(row: Rule & Place, names: LimitNames): string {
  return `${ruleOf(row)} ${whereOf(row, names)}`;
}

/** The effect of a limit: "Relay delays or rejects the 101st request in any minute on lane Assistant." */
export function effectOf(row: Rule & Place, names: LimitNames): string {
  const { metric, period, limit } = row;
  const { form } = words;
  const where = whereOf(row, names);
  if (limit === 0) return form.zero(where);
  const window = period === 'none' ? '' : form.utc[period];
  switch (metric) {
    case 'requests':
      return form.requests(formatOrdinal(limit + 1), window, where);
    case 'tokens':
      return form.tokens(words.amount.tokens(formatCount(limit), limit === 1), window, where);
    case 'spend':
      return form.spend(formatMoney(limit), window, where);
    case 'concurrency':
      return form.concurrency(formatOrdinal(limit + 1), limit, where);
  }
}
