import type { RecordedCandidate, RequestDetail } from '@relay/contract';
import { unsuccessfulAttempt } from '@relay/contract/words';
import { causeOf } from '../../parts/failure-words.ts';
import { text } from '../../text/index.ts';

const TONES = { failed: 'bad', cancelled: 'warn' } as const;

/** What happened at a candidate that was tried without success; null for others. */
export function triedOf({ endpoint_id: id, reason }: RecordedCandidate, { attempts }: RequestDetail) {
  const attempt = unsuccessfulAttempt(attempts, id);
  if (attempt === undefined) return null;
  const { outcome, error_code: code } = attempt;
  return {
    tone: TONES[outcome],
    word: text.requests.detail.decision.tried[outcome],
    reason: code === null ? reason : `${causeOf(code)}: ${reason}`,
  };
}
