import type { ProviderTestResult } from '@relay/contract';
import { verdictOfStatus } from '../../domain/routing/upstream-verdict.ts';
import { errorTextOf } from '../../domain/upstream-text.ts';
import { explanationOf, type Outcome, type Subject } from './explanations.ts';
import type { ProbeResult } from './probe.ts';

type StageResult = ProviderTestResult['stages'][number];
type StageName = StageResult['stage'];

/** What both kinds of tests return. */
export type TestAnswer = Pick<
  ProviderTestResult,
  | 'ok'
  | 'outcome'
  | 'message'
  | 'stopped_at'
  | 'host'
  | 'latency_ms'
  | 'upstream_status'
  | 'upstream_message'
  | 'stages'
>;

/** The stage at which each outcome stops; the stages before it succeeded. */
const STOPS_AT: Readonly<Record<Exclude<Outcome, 'ok' | 'timed_out' | 'connection_failed'>, StageName>> = {
  no_credential: 'authenticate',
  credential_unreadable: 'authenticate',
  token_failed: 'authenticate',
  no_model_list: 'respond',
  address_refused: 'resolve',
  dns_failed: 'resolve',
  connection_refused: 'connect',
  tls_failed: 'tls',
  unauthorized: 'authenticate',
  forbidden: 'authenticate',
  not_found: 'respond',
  rate_limited: 'respond',
  redirected: 'respond',
  request_refused: 'respond',
  upstream_error: 'respond',
  invalid_response: 'respond',
};

/** Outcomes that prove that the provider accepted the credential. */
const TELLS_OF_CREDENTIAL: ReadonlySet<Outcome> = new Set(['ok', 'rate_limited', 'request_refused']);

const STAGES: readonly StageName[] = ['resolve', 'connect', 'tls', 'authenticate', 'respond'];

/** The outcome for an HTTP status. For a 2xx, the body decides. */
export function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'ok';
  const { rejects } = verdictOfStatus(status);
  if (rejects === 'address') return 'redirected';
  if (rejects === 'credential') return status === 401 || status === 407 ? 'unauthorized' : 'forbidden';
  if (status === 404 || status === 405) return 'not_found';
  if (status === 429) return 'rate_limited';
  return status >= 400 && status < 500 ? 'request_refused' : 'upstream_error';
}

/** The result of a test that sent nothing: there is no usable credential, or nothing to ask. */
export function unsent(
  outcome: 'no_credential' | 'credential_unreadable' | 'token_failed' | 'no_model_list',
  subject: Subject,
): TestAnswer {
  const stop = STOPS_AT[outcome];
  const message = explanationOf(outcome, subject, false);
  const stages = STAGES.map((stage): StageResult => {
    const failed = stage === stop;
    const why =
      outcome === 'no_model_list'
        ? 'the provider has no model list'
        : 'Relay sends nothing without the credential';
    const said = failed ? message : `Not tried: ${why}.`;
    return { stage, status: failed ? 'failed' : 'skipped', latency_ms: null, message: said };
  });
  return {
    ok: false,
    outcome,
    message,
    stopped_at: stop,
    host: subject.host,
    latency_ms: 0,
    upstream_status: null,
    upstream_message: null,
    stages,
  };
}

/** The result of a test that sent its request. */
export function verdictOf(
  result: ProbeResult,
  outcome: Outcome,
  subject: Subject,
  secret: string | null,
): TestAnswer {
  const connected = result.connectMs !== null;
  const message = explanationOf(outcome, subject, connected);
  const totalMs = result.kind === 'answered' ? result.connectMs + result.respondMs : result.waitedMs;
  return {
    ok: outcome === 'ok',
    outcome,
    message,
    stopped_at: stopOf(outcome, connected),
    host: subject.host,
    latency_ms: totalMs,
    upstream_status: result.kind === 'answered' ? result.status : null,
    upstream_message:
      result.kind === 'answered' && outcome !== 'ok' ? errorTextOf(result.body, secret) : null,
    stages: stagesOf(result, outcome, subject, message),
  };
}

function stagesOf(result: ProbeResult, outcome: Outcome, subject: Subject, message: string): StageResult[] {
  const stop = stopOf(outcome, result.connectMs !== null);
  const latencies: Partial<Record<StageName, number>> = {};
  if (result.connectMs !== null) latencies.connect = result.connectMs;
  if (result.kind === 'answered') latencies.respond = result.respondMs;
  return STAGES.map((stage, place): StageResult => {
    const latency_ms = latencies[stage] ?? null;
    if (stage === stop) return { stage, status: 'failed', latency_ms, message };
    if (stop !== null && place > STAGES.indexOf(stop)) {
      // A response that rejects the credential still has a latency.
      return { stage, status: 'skipped', latency_ms, message: 'Not reached.' };
    }
    return passed(stage, outcome, subject, latency_ms);
  });
}

function stopOf(outcome: Outcome, connected: boolean): StageName | null {
  if (outcome === 'ok') return null;
  if (outcome === 'timed_out' || outcome === 'connection_failed') return connected ? 'respond' : 'connect';
  return STOPS_AT[outcome];
}

function passed(
  stage: StageName,
  outcome: Outcome,
  { hostname, host, needsCredential, isAddress, tls }: Subject,
  latency_ms: number | null,
): StageResult {
  switch (stage) {
    case 'resolve':
      return isAddress
        ? { stage, status: 'skipped', latency_ms, message: 'base_url has an IP address: nothing to resolve.' }
        : {
            stage,
            status: 'ok',
            latency_ms,
            message: `${hostname} resolves to an address that Relay can call.`,
          };
    case 'connect':
      return { stage, status: 'ok', latency_ms, message: `${host} accepts connections.` };
    case 'tls':
      return tls
        ? { stage, status: 'ok', latency_ms, message: 'The certificate is valid.' }
        : {
            stage,
            status: 'skipped',
            latency_ms,
            message: 'base_url is http: the connection is not encrypted.',
          };
    case 'authenticate':
      if (!needsCredential)
        return {
          stage,
          status: 'skipped',
          latency_ms,
          message: 'The provider is called without a credential.',
        };
      return TELLS_OF_CREDENTIAL.has(outcome)
        ? { stage, status: 'ok', latency_ms, message: 'The credential was accepted.' }
        : {
            stage,
            status: 'skipped',
            latency_ms,
            message: 'The response doesn’t show whether the credential was accepted.',
          };
    case 'respond':
      return { stage, status: 'ok', latency_ms, message: 'The response is valid.' };
  }
}
