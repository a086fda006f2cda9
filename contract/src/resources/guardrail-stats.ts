import Type, { type Static } from 'typebox';
import type { ResourceDefinition } from '../resource-definition.ts';
import { closed, Id, integer, nullable, optional, params, query, Timestamp, text } from '../schema.ts';
import { Bucket } from './stats.ts';

const timeAsked = { bucket: optional(Bucket), from: optional(Timestamp), to: optional(Timestamp) };
const timeShown = { bucket: Bucket, from: Timestamp, to: Timestamp };

/** What guardrails said, and how long that took them. */
const measured = {
  allowed: integer(),
  flagged: integer(),
  replaced: integer(),
  blocked: integer(),
  unavailable: integer(),
  latency_ms_p50: nullable(integer(), { description: 'Null if the guardrail was not called.' }),
  latency_ms_p95: nullable(integer(), { description: 'Null if the guardrail was not called.' }),
};

export const GuardrailTotalsQuery = query(timeAsked);

export const GuardrailTotals = closed('GuardrailTotals', {
  ...timeShown,
  guardrails: Type.Array(closed('GuardrailTotal', { guardrail_id: Id, ...measured }), {
    description: 'Guardrails that were called in this period, including deleted ones.',
  }),
});
export type GuardrailTotals = Static<typeof GuardrailTotals>;

export const GuardrailStatsQuery = query({
  ...timeAsked,
  bound_to: optional(
    text({
      maxLength: 8_000,
      description:
        'Bindings to assume when counting streaming and embeddings requests: `global`, `lane:ID`, `provider:ID` and `endpoint:ID`, separated by commas; empty for no bindings. Default: the guardrail’s current bindings.',
    }),
  ),
});

export const GuardrailStats = closed('GuardrailStats', {
  guardrail_id: Id,
  ...timeShown,
  total: closed('GuardrailMeasured', measured),
  points: Type.Array(closed('GuardrailPoint', { at: Timestamp, ...measured })),
  streaming_requests: integer({
    description:
      'Streaming requests in this period that the guardrail’s bindings cover, whether or not it is enabled. While it is enabled, Relay rejects such requests.',
  }),
  embedding_requests: integer({ description: 'The same for embeddings requests.' }),
});
export type GuardrailStats = Static<typeof GuardrailStats>;

const shared = { plane: 'management', tag: 'Guardrails' } as const;
const read = { scope: 'relay:guardrails:read' } as const;

export const guardrailStatsResource = {
  order: 85,
  routes: {
    getGuardrailStats: {
      ...shared,
      method: 'GET',
      path: '/api/relay/guardrails/{guardrail_id}/stats',
      access: read,
      summary: 'Read the verdicts and latency of a guardrail over time',
      params: params('guardrail_id'),
      query: GuardrailStatsQuery,
      success: { status: 200, schema: GuardrailStats },
    },
    getGuardrailTotals: {
      ...shared,
      method: 'GET',
      path: '/api/relay/guardrail-stats',
      access: read,
      summary: 'Read the verdicts and latency of all guardrails',
      query: GuardrailTotalsQuery,
      success: { status: 200, schema: GuardrailTotals },
    },
  },
} as const satisfies ResourceDefinition;
