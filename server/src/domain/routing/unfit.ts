import type { CandidateVerdict } from '@relay/contract';
import type { Endpoint } from '../snapshot.ts';
import type { Candidate, RouteMember } from './routing.ts';

/** What a client asks for, as far as it decides which endpoints can serve it. */
export interface Asked {
  /** Providers charge nothing for it. */
  readonly isFree: boolean;
  /** Why the request cannot reach what the endpoint's provider speaks; null when it can, as it is or translated. */
  obstacle(endpoint: Endpoint): Obstacle | null;
  /** The field because of which only the context window bounds what the request uses there; null for none. */
  unboundedAt(endpoint: Endpoint): string | null;
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
    | 'unpriced'
    | 'unbounded';
  readonly verdict: CandidateVerdict['verdict'];
  readonly reason: string;
}

/** A limit on spend that counts no requests without a price, as errors name it. */
interface PricingLimit {
  readonly words: string;
  readonly isHard: boolean;
}

/** What limits ask of candidates. Each answers with the limit as errors name it, or null for none. */
export interface LimitRules {
  /** The spend limit that the candidate has no price for. */
  needsPrice(candidate: Candidate): PricingLimit | null;
  /** The hard limit that bounds what a request to it may use. */
  hardLimit(candidate: Candidate): string | null;
}

const MEMBERSHIP_DISABLED = disabled('membership_disabled', 'its membership in the lane is disabled');
const ENDPOINT_DISABLED = disabled('endpoint_disabled', 'the endpoint is disabled');
const PROVIDER_DISABLED = disabled('provider_disabled', 'its provider is disabled');
const STREAMING_UNSUPPORTED = incompatible('streaming_unsupported', 'it does not support streaming');

/** Those of a route that can serve the request, in its order. */
export function fitCandidates(
  members: readonly RouteMember[],
  asked: Asked,
  streaming: boolean,
  rules: LimitRules,
): Candidate[] {
  const candidates: Candidate[] = [];
  for (const member of members) {
    if (unfitness(member, asked, streaming, rules) === null) candidates.push(member.candidate);
  }
  return candidates;
}

/** Why this member cannot take the request, or null when it can. */
export function unfitness(
  member: RouteMember,
  asked: Asked,
  streaming: boolean,
  rules: LimitRules,
): Unfit | null {
  const { endpoint, provider } = member.candidate;
  if (!member.membershipEnabled) return MEMBERSHIP_DISABLED;
  if (!endpoint.enabled) return ENDPOINT_DISABLED;
  if (!provider.enabled) return PROVIDER_DISABLED;
  const obstacle = asked.obstacle(endpoint);
  if (obstacle !== null) return incompatible(obstacle.why, obstacle.reason);
  if (streaming && !endpoint.supportsStreaming) return STREAMING_UNSUPPORTED;
  const limit = asked.isFree ? null : rules.needsPrice(member.candidate);
  if (limit !== null) return unpriced(limit);
  const hard = endpoint.contextWindow === null ? rules.hardLimit(member.candidate) : null;
  const field = hard === null ? null : asked.unboundedAt(endpoint);
  return hard === null || field === null ? null : unbounded(field, hard);
}

function unbounded(field: string, limit: string): Unfit {
  const reason = `${limit} is a hard limit, "${field}" makes usage unbounded, and the endpoint has no context window. Set the endpoint’s "context_window"`;
  return { why: 'unbounded', verdict: 'unbounded', reason };
}

function unpriced({ words, isHard }: PricingLimit): Unfit {
  const reason = `it has no price, and ${words} counts spend. ${unpricedFix('its price', isHard)}`;
  return { why: 'unpriced', verdict: 'unpriced', reason };
}

/** A hard limit cannot let requests through uncounted. */
export function unpricedFix(price: string, isHard: boolean): string {
  return isHard ? `Set ${price}` : `Set ${price}, or set the limit’s "unpriced" to "allow"`;
}

function disabled(why: Unfit['why'], reason: string): Unfit {
  return { why, verdict: 'disabled', reason };
}

function incompatible(why: Unfit['why'], reason: string): Unfit {
  return { why, verdict: 'incompatible', reason };
}
