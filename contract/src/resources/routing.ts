import Type, { type Static } from 'typebox';
import { closed, flag, Id, integer, nullable, OpenJson, oneOf, optional } from '../schema.ts';
import { EffectiveGuardrail } from './guardrail.ts';
import { LaneUpdate } from './lane.ts';
import { CandidateVerdict, LimitingPolicy } from './request-log.ts';
import { Operation } from './values.ts';

const EditedLane = closed(
  'EditedLane',
  { ...LaneUpdate.properties, id: Id },
  {
    description:
      'An unsaved edit of a lane, as you would send it with PUT. Relay explains the routing as if the edit were saved, and rejects an edit that it would not save.',
  },
);
export type EditedLane = Static<typeof EditedLane>;

export const RoutingExplain = closed('RoutingExplain', {
  operation: Operation,
  body: Type.Record(Type.String(), OpenJson, { description: 'The inference body as it would be sent.' }),
  edited_lane: optional(EditedLane),
});
export type RoutingExplain = Static<typeof RoutingExplain>;

/** How Relay would route the body now. It dispatches and reserves nothing. */
export const RoutingExplanation = closed('RoutingExplanation', {
  operation: Operation,
  model: Type.String(),
  resolved_as: oneOf(['lane', 'provider_model', 'model', 'unknown']),
  lane_id: nullable(Id),
  streaming: flag(),
  outcome: oneOf(['dispatch', 'wait', 'refuse']),
  selected_endpoint_id: nullable(Id),
  wait_ms: nullable(integer()),
  wait_budget_ms: nullable(integer()),
  retry_after_ms: nullable(integer()),
  error_code: nullable(Type.String()),
  reason: nullable(Type.String(), { description: 'Why Relay would reject it; null if it would not.' }),
  limited_by: nullable(LimitingPolicy),
  estimated_input_tokens: integer(),
  estimated_output_tokens: integer(),
  guardrail_ids: Type.Array(Id, {
    description: 'The IDs of `guardrails`, in the same order.',
  }),
  guardrails: Type.Array(EffectiveGuardrail, {
    description:
      'Every guardrail that applies to a candidate for this request, in the order they run. If there is one, Relay rejects streaming and embeddings requests with 400.',
  }),
  candidates: Type.Array(CandidateVerdict),
});
export type RoutingExplanation = Static<typeof RoutingExplanation>;
