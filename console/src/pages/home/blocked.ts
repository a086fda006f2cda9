import type { Failures } from '@relay/contract';

/** The error code of what a guardrail blocked. */
export const BLOCKED_CODE = 'content_policy_violation';

interface Split {
  readonly blocked: number;
  /** Without what was blocked; undefined while unknown. */
  readonly failures: Failures | undefined;
}

/** The API counts what a guardrail blocked as failed. For people it is not trouble: the guardrail did its job. */
export function splitBlocked(failures: Failures | undefined): Split {
  if (failures === undefined) return { blocked: 0, failures };
  const causes = failures.causes.filter(({ error_code: code }) => code !== BLOCKED_CODE);
  const blocked = failures.causes
    .filter(({ error_code: code }) => code === BLOCKED_CODE)
    .reduce((sum, { requests }) => sum + requests, 0);
  return { blocked, failures: { ...failures, causes, requests: failures.requests - blocked } };
}
