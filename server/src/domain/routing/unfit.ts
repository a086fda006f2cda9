import type { CandidateVerdict, Operation, RouteKind } from '@relay/contract';
import type { RouteMember } from './routing.ts';

export type Unfit =
  | 'membership_disabled'
  | 'endpoint_disabled'
  | 'provider_disabled'
  | 'operation_unsupported'
  | 'streaming_unsupported';

/** What people are told about a member that routing passes over. The reasons contain nothing of the request. */
export const unfitVerdicts: Readonly<
  Record<Unfit, { readonly verdict: CandidateVerdict['verdict']; readonly reason: string }>
> = {
  membership_disabled: { verdict: 'disabled', reason: 'its membership in the lane is disabled' },
  endpoint_disabled: { verdict: 'disabled', reason: 'the endpoint is disabled' },
  provider_disabled: { verdict: 'disabled', reason: 'its provider is disabled' },
  operation_unsupported: { verdict: 'incompatible', reason: 'it does not serve this operation' },
  streaming_unsupported: { verdict: 'incompatible', reason: 'it does not support streaming' },
};

/** Why this member cannot take the request, or null when it can. */
export function unfitness(member: RouteMember, operation: Operation, streaming: boolean): Unfit | null {
  const { endpoint, provider } = member.candidate;
  if (!member.membershipEnabled) return 'membership_disabled';
  if (!endpoint.enabled) return 'endpoint_disabled';
  if (!provider.enabled) return 'provider_disabled';
  if (!serves(endpoint.routeKind, operation)) return 'operation_unsupported';
  if (streaming && !endpoint.supportsStreaming) return 'streaming_unsupported';
  return null;
}

function serves(kind: RouteKind, operation: Operation): boolean {
  return kind === 'multi' || kind === operation;
}
