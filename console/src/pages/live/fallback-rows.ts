import type { RequestAttempt, RequestDetail } from '@relay/contract';
import { causeOf } from '../../parts/failure-words.ts';
import { text } from '../../text/index.ts';

export interface FallbackRow {
  readonly requestId: string;
  readonly finishedAt: string;
  readonly model: string | null;
  readonly state: RequestDetail['state'];
  /** The IDs of its endpoints in order; the last one served the request, or was the last to fail. */
  readonly endpointIds: readonly string[];
  /** Why it left the others, each reason once. */
  readonly reasons: readonly string[];
  /** How long the attempts at the others took. */
  readonly lostMs: number;
}

/** The way of a request that fell back. */
export function fallbackOf(detail: RequestDetail): FallbackRow {
  const { attempts } = detail;
  const lastId = attempts.at(-1)?.endpoint_id;
  const left = attempts.slice(0, attempts.findLastIndex(({ endpoint_id: id }) => id !== lastId) + 1);
  return {
    requestId: detail.request_id,
    finishedAt: detail.finished_at,
    model: detail.model,
    state: detail.state,
    endpointIds: attempts
      .map(({ endpoint_id: id }) => id)
      .filter((id, index, ids) => index === 0 || ids[index - 1] !== id),
    reasons: [...new Set(left.map(reasonOf))],
    lostMs: left.reduce((sum, { duration_ms: durationMs }) => sum + durationMs, 0),
  };
}

function reasonOf({ error_code: code, upstream_status: status }: RequestAttempt): string {
  if (code !== null) return causeOf(code);
  return status === null ? text.requests.states.failed : text.failures.providerReturned(String(status));
}
