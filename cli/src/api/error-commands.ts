import type { ErrorCode } from '@relay/contract/errors';

const LOGIN = 'Run: `relay login`';
const DOCTOR = 'Run: `relay doctor`';
const LIMITS = 'Run: `relay limits usage`';

/** The command that fixes an error of the server, or shows its cause. */
const COMMANDS: Partial<Record<ErrorCode, string>> = {
  missing_api_key: LOGIN,
  invalid_api_key: LOGIN,
  expired_api_key: LOGIN,
  revoked_api_key: LOGIN,
  insufficient_scope: 'Run: `relay keys create --name NAME --scope SCOPE`',
  rate_limit_wait_budget_exceeded: LIMITS,
  budget_exhausted: LIMITS,
  request_exceeds_limit: LIMITS,
  queue_full: LIMITS,
  model_not_found: 'Run: `relay lanes list`',
  no_route: 'Run: `relay explain LANE`',
  policy_unavailable: DOCTOR,
  metering_unavailable: DOCTOR,
  store_unavailable: DOCTOR,
  configuration_unavailable: DOCTOR,
  upstream_unreachable: DOCTOR,
  upstream_timeout: DOCTOR,
  upstream_invalid_response: DOCTOR,
  upstream_not_prepared: DOCTOR,
  upstream_credential_refused: DOCTOR,
  upstream_redirected: DOCTOR,
  guardrail_unavailable: 'Run: `relay guardrails list`',
};

/** What the error's page says to do, and the command to copy for it. */
export function fixWords(code: string, advice: string | undefined): string | undefined {
  const command = Object.entries(COMMANDS).find(([known]) => known === code)?.[1];
  // Its message already names the fields.
  if (code === 'invalid_request') return undefined;
  if (command === undefined || advice === undefined) return command ?? advice;
  return `${advice} ${command}`;
}
