import type { CandidateVerdict } from '@relay/contract';
import type { Endpoint } from '../snapshot.ts';
import type { Candidate, RouteMember } from './routing.ts';

/** What a client asks for, as far as it decides which endpoints can serve it. */
export interface Asked {
  /** Providers charge nothing for it. */
  readonly isFree: boolean;
  /** Why the request cannot reach what the endpoint's provider speaks; null when it can, as it is or translated. */
  obstacle(endpoint: Endpoint): Obstacle | null;
}

export interface Obstacle {
  readonly why: 'operation_unsupported' | 'untranslatable';
  readonly reason: string;
}

/** Why routing passes over a member, and what people are told about it. Of the request the reasons contain at most the name of a field. */
export interface Unfit {
  readonly why:
    | 'membership_disabled'
    | 'endpoint_disabled'
    | 'provider_disabled'
    | Obstacle['why']
    | 'streaming_unsupported'
    | 'unpriced';
  readonly verdict: CandidateVerdict['verdict'];
  readonly reason: string;
}

/** The spend limit, as errors name it, that a candidate has no price for; null when it needs none. */
export type NeedsPrice = (candidate: Candidate) => string | null;

const MEMBERSHIP_DISABLED = disabled('membership_disabled', 'its membership in the lane is disabled');
const ENDPOINT_DISABLED = disabled('endpoint_disabled', 'the endpoint is disabled');
const PROVIDER_DISABLED = disabled('provider_disabled', 'its provider is disabled');
const STREAMING_UNSUPPORTED = incompatible('streaming_unsupported', 'it does not support streaming');

/** Why this member cannot take the request, or null when it can. */
export function unfitness(
  member: RouteMember,
  asked: Asked,
  streaming: boolean,
  needsPrice: NeedsPrice,
): Unfit | null {
  const { endpoint, provider } = member.candidate;
  if (!member.membershipEnabled) return MEMBERSHIP_DISABLED;
  if (!endpoint.enabled) return ENDPOINT_DISABLED;
  if (!provider.enabled) return PROVIDER_DISABLED;
  const obstacle = asked.obstacle(endpoint);
  if (obstacle !== null) return incompatible(obstacle.why, obstacle.reason);
  if (streaming && !endpoint.supportsStreaming) return STREAMING_UNSUPPORTED;
  const limit = asked.isFree ? null : needsPrice(member.candidate);
  return limit === null ? null : unpriced(limit);
}

function unpriced(limit: string): Unfit {
  const reason = `it has no price, and ${limit} counts spend. Set its price, or set "unpriced" of the limit to "allow"`;
  return { why: 'unpriced', verdict: 'unpriced', reason };
}

function disabled(why: Unfit['why'], reason: string): Unfit {
  return { why, verdict: 'disabled', reason };
}

function incompatible(why: Unfit['why'], reason: string): Unfit {
  return { why, verdict: 'incompatible', reason };
}
