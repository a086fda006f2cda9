import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { limitHistoryQuery } from '../../api/limit-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { stretchOf } from '../../parts/burn-down.ts';
import { type CountedBy, historyQuestionOf } from '../../parts/limit-history.ts';
import { isCalendar, windowAt } from '../../parts/limit-window.ts';
import { useAccess } from '../../session/use-access.ts';
import { useNow } from '../../ui/use-now.ts';
import type { LimitRow } from './limit-row.ts';
import { type WindowUse, windowUseOf } from './reached-at.ts';
import { reachedWords } from './reached-words.ts';

const TICK_MS = 60_000;

/** The limit in the form. */
export interface DraftLimit extends CountedBy {
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limit: number;
}

interface ReachedBy {
  /** Null for a new limit. */
  readonly row: LimitRow | null;
  /** Null while the form lacks something. */
  readonly draft: DraftLimit | null;
}

/** When the limit in the form will be reached; null where the usage so far is not known. */
export function useReached({ row, draft }: ReachedBy): string | null {
  const nowMs = useNow(TICK_MS);
  const ofRow = row?.usage != null && draft !== null && countsTheSame(row, draft) ? row : null;
  const counted = useCounted(ofRow === null ? draft : null, nowMs);
  if (draft === null || draft.limit === 0) return null;
  const use = ofRow?.usage == null ? counted : windowUseOf(ofRow.usage, nowMs);
  if (use === null) return null;
  const { metric, limit } = draft;
  return reachedWords({ use, metric, limit, saved: ofRow?.limit ?? null, nowMs });
}

function countsTheSame(row: LimitRow, draft: DraftLimit): boolean {
  return (['scope', 'scopeId', 'metric', 'period'] as const).every((field) => row[field] === draft[field]);
}

/** What the statistics counted in the window. Their requests include rejected ones, which no limit counts, so tokens and spend only. */
function useCounted(draft: DraftLimit | null, nowMs: number): WindowUse | null {
  const { can } = useAccess();
  const isCounted = draft !== null && (draft.metric === 'tokens' || draft.metric === 'spend');
  const stretch = isCounted && isCalendar(draft.period) ? stretchOf(draft.period, nowMs) : null;
  const question = stretch === null || draft === null ? null : historyQuestionOf(draft, stretch);
  const history = useQuery({
    ...limitHistoryQuery(useApi(), question ?? { metric: 'requests', bucket: 'day', from: '' }),
    enabled: question !== null && can('getTimeseries'),
  });
  if (draft === null || question === null || history.data === undefined || !isCalendar(draft.period))
    return null;
  const used = history.data.reduce((sum, { value }) => sum + (value ?? 0), 0);
  return { ...windowAt(draft.period, nowMs), used };
}
