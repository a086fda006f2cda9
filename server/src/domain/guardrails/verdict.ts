export type GuardrailStage = 'pre_dispatch' | 'post_response';
export type GuardrailVerdict = 'allowed' | 'flagged' | 'replaced' | 'blocked' | 'unavailable';

/** Why a guardrail gave no verdict. */
export type GuardrailCause =
  | 'timeout'
  | 'unreachable'
  | 'bad_status'
  | 'malformed'
  | 'too_large'
  | 'no_rule_matched'
  | 'circuit_open'
  | 'busy';
