import Type, { type Static } from 'typebox';
import { closed, flag, integer, nullable, oneOf } from '../schema.ts';
import { Operation } from './values.ts';

const Stage = closed('TestStage', {
  stage: oneOf(['resolve', 'connect', 'authenticate', 'respond'], {
    description: '`connect` includes TLS. The stages stand in this order.',
  }),
  status: oneOf(['ok', 'failed', 'skipped'], {
    description: '`skipped`: not reached, not needed, or not told by the answer; `message` says which.',
  }),
  latency_ms: nullable(integer(), {
    description: 'Null where nothing was measured. The time of `connect` includes the name resolution.',
  }),
  message: Type.String(),
});

const Outcome = oneOf([
  'ok',
  'no_credential',
  'credential_unreadable',
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
  latency_ms: integer({ description: 'The whole test.' }),
  upstream_status: nullable(integer()),
  upstream_message: nullable(Type.String({ maxLength: 300 }), {
    description:
      'What the provider’s own error says, shortened and without anything that looks like a secret.',
  }),
  stages: Type.Array(Stage, { minItems: 4, maxItems: 4 }),
};

export const ProviderTestResult = closed('ProviderTestResult', {
  ...answer,
  model_count: nullable(integer(), { description: 'Null when the provider gave no list that can be read.' }),
  model_ids: Type.Array(Type.String(), { maxItems: 100, description: 'The first of the provider’s models.' }),
});
export type ProviderTestResult = Static<typeof ProviderTestResult>;

export const EndpointTestResult = closed('EndpointTestResult', {
  ...answer,
  operation: Operation,
});
export type EndpointTestResult = Static<typeof EndpointTestResult>;
