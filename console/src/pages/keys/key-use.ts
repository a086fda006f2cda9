import type { ApiKey } from '@relay/contract';
import type { KeyUse } from '../../address/list-search.ts';

const DAY_MS = 86_400_000;
/** As the texts say. */
const SPAN_MS = 30 * DAY_MS;

/** Whether a key is the caller's own, or one to decide about: not used in the last 30 days, or expiring in the next. */
export function isOfUse({ use, selfId, nowMs }: UseQuestion, key: ApiKey): boolean {
  if (use === undefined) return true;
  if (use === 'mine') return key.user_uuid === selfId;
  return use === 'unused' ? isUnused(key, nowMs) : isEnding(key, nowMs);
}

export interface UseQuestion {
  /** Undefined for all. */
  readonly use: KeyUse | undefined;
  readonly selfId: string | undefined;
  readonly nowMs: number;
}

function isUnused({ last_used_at: at }: ApiKey, nowMs: number): boolean {
  return at === null || nowMs - Date.parse(at) > SPAN_MS;
}

export function isEnding({ expires_at: at, status }: ApiKey, nowMs: number): boolean {
  return status === 'active' && at !== null && Date.parse(at) - nowMs < SPAN_MS;
}
