import { durationWords, sizeWords } from '@relay/contract/words';
import { GUARDRAIL_BYTES_DEFAULT } from '../../domain/guardrails/guardrail.ts';
import type { GuardrailCause, GuardrailVerdict } from '../../domain/guardrails/verdict.ts';
import { authStyles } from '../../domain/upstream-auth.ts';
import type { GuardrailAnswer } from '../../guardrails/call-guardrail.ts';
import type { Row } from '../resources/rows.ts';

const VERDICTS: Readonly<Record<Exclude<GuardrailVerdict, 'unavailable'>, string>> = {
  allowed: 'The guardrail allows the text.',
  flagged: 'The guardrail flags the text. Relay continues the request and records the flag.',
  replaced: 'The guardrail replaces the response text.',
  blocked: 'The guardrail blocks the text. A request gets 403 content_policy_violation.',
};

/** Explains the result of a test and what to do next. */
export function explanationOf(
  row: Row<'guardrails'>,
  hasSecret: boolean,
  { verdict, cause, received }: GuardrailAnswer,
): string {
  if (verdict !== 'unavailable') return VERDICTS[verdict];
  const found = foundOf(cause, row, hasSecret, received?.status ?? null);
  const meaning =
    row.failure_mode === 'fail_closed'
      ? 'A request gets 503 guardrail_unavailable.'
      : 'Relay continues the request unchecked, because failure_mode is fail_open.';
  return `${found} ${meaning}`;
}

function foundOf(
  cause: GuardrailCause | null,
  row: Row<'guardrails'>,
  hasSecret: boolean,
  status: number | null,
): string {
  switch (cause) {
    case 'timeout':
      return `No complete response within ${durationWords(row.timeout_ms)}. Raise timeout_ms.`;
    case 'unreachable':
      return unreachable(row, hasSecret);
    case 'bad_status':
      return status === 401 || status === 403
        ? `It returned ${status}: it does not accept the credential. Check auth_mode, secret_header_name and secret.`
        : `It returned ${status}. See "received" for its response.`;
    case 'malformed':
      return 'Its response is not valid JSON. Check that base_url is its API and not a website.';
    case 'too_large':
      return status === null
        ? `The request would be larger than max_request_bytes (${sizeWords(row.max_request_bytes ?? GUARDRAIL_BYTES_DEFAULT)}).`
        : `Its response is larger than max_response_bytes (${sizeWords(row.max_response_bytes ?? GUARDRAIL_BYTES_DEFAULT)}).`;
    case 'no_rule_matched':
      return 'No rule matches its response. Add rules for the response in "received", including one with the action "allow".';
    case 'circuit_open':
    case 'busy':
    case null:
      return 'The guardrail was not called.';
  }
}

function unreachable({ auth_mode, sealed_secret, base_url }: Row<'guardrails'>, hasSecret: boolean): string {
  if (authStyles[auth_mode].needsSecret && !hasSecret) {
    return sealed_secret === null
      ? `There is no credential to send. Store one, or set auth_mode to "none".`
      : 'Relay can’t decrypt the stored credential with its master keys. Enter the secret again.';
  }
  return `${new URL(base_url).host} is unreachable. Check base_url, that the service is running, and that its address is public or allowed by RELAY_ALLOW_PRIVATE_NETWORKS. \`relay start\` allows loopback while it listens on loopback only.`;
}
