import type { CandidateVerdict } from '@relay/contract';

/** The verdict on a candidate, in the console's word where that differs. */
export function verdictWord({ verdict }: Pick<CandidateVerdict, 'verdict'>): string {
  return verdict === 'unhealthy' ? 'skipped' : verdict;
}
