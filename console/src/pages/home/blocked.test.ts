import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { FailureCause, Failures } from '@relay/contract';
import { splitBlocked } from './blocked.ts';

const cause = (code: string | null, guardrail: string | null, requests: number) =>
  ({ error_code: code, guardrail_id: guardrail, requests }) as FailureCause;

it('what guardrails blocked is counted apart from what failed', () => {
  const causes = [
    cause('content_policy_violation', 'pii', 5),
    cause('guardrail_unavailable', 'pii', 3),
    cause('content_policy_violation', 'secrets', 2),
    cause(null, null, 1),
  ];
  const { blocked, failures } = splitBlocked({ requests: 12, causes, other_requests: 1 } as Failures);
  assert.equal(blocked, 7);
  assert.equal(failures?.requests, 5);
  assert.deepEqual(failures.causes, [causes[1], causes[3]]);
});

it('nothing is known as blocked while the causes are unknown', () => {
  assert.deepEqual(splitBlocked(undefined), { blocked: 0, failures: undefined });
});
