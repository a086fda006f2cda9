import Type, { type Static } from 'typebox';
import { closed, flag, integer, nullable, oneOf } from '../schema.ts';
import { Operation, WireProtocol } from './values.ts';

const StageName = oneOf(['resolve', 'connect', 'tls', 'authenticate', 'respond'], {
  description: 'The stages of a test, in this order.',
});

const Stage = closed('TestStage', {
  stage: StageName,
  status: oneOf(['ok', 'failed', 'skipped'], {
    description:
      '`skipped`: not reached, not needed, or not determined by the response; `message` says which.',
  }),
  latency_ms: nullable(integer(), {
    description: 'Null if nothing was measured. The latency of `connect` includes name resolution and TLS.',
  }),
  message: Type.String(),
});

const Outcome = oneOf([
  'ok',
  'no_credential',
  'credential_unreadable',
  'token_failed',
  'no_model_list',
  'address_refused',
  'dns_failed',
  'connection_refused',
  'connection_failed',
  'tls_failed',
  'timed_out',
  'unauthorized',
  'forbidden',
  'not_found',
  'rate_limited',
  'redirected',
  'request_refused',
  'upstream_error',
  'invalid_response',
]);

/** The result of every connection test. */
const answer = {
  ok: flag(),
  outcome: Outcome,
  message: Type.String({ description: 'What was found and what to do about it.' }),
  stopped_at: nullable(StageName, { description: 'The stage that failed; null if none did.' }),
  host: Type.String({ description: 'The host that was called, with its port if `base_url` names one.' }),
  latency_ms: integer({ description: 'Duration of the whole test.' }),
  upstream_status: nullable(integer(), {
    description: 'The provider’s HTTP status; null if it didn’t respond.',
  }),
  upstream_message: nullable(Type.String({ maxLength: 300 }), {
    description:
      'The provider’s own error message, shortened, with anything that looks like a secret removed.',
  }),
  stages: Type.Array(Stage, { minItems: 5, maxItems: 5 }),
};

export const ProviderTestResult = closed('ProviderTestResult', {
  ...answer,
  model_count: nullable(integer(), { description: 'Null if the provider returned no readable list.' }),
  protocol: nullable(WireProtocol, {
    description:
      'The protocol that the provider’s model list indicates; null if it returned no readable list.',
  }),
  model_ids: Type.Array(Type.String(), {
    maxItems: 1_000,
    description: 'The provider’s models, newest first if the provider reports when they were created.',
  }),
});
export type ProviderTestResult = Static<typeof ProviderTestResult>;

export const EndpointTestResult = closed('EndpointTestResult', {
  ...answer,
  operation: Operation,
});
export type EndpointTestResult = Static<typeof EndpointTestResult>;
