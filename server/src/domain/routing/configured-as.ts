import { hash } from 'node:crypto';
import type { Provider } from '../snapshot.ts';
import { type Candidate, sentCredential } from './routing.ts';

/** Names the configuration that a candidate's health was seen under. */
export interface ConfiguredAs {
  readonly endpoint: string;
  /** Null when no credential is sent. */
  readonly credential: { readonly id: string; readonly as: string } | null;
}

// A cache and not state: an entry depends on its key alone and is collected with it.
const known = new WeakMap<Candidate, ConfiguredAs>();

/**
 * Changes with everything that decides whether the endpoint answers: address, model and authentication. What was seen before such a
 * change no longer holds. A secret enters as a few bits of a digest, which tell that it changed and nothing else.
 */
export function configuredAs(candidate: Candidate): ConfiguredAs {
  const found = known.get(candidate);
  if (found !== undefined) return found;
  const { endpoint, provider } = candidate;
  const sent = sentCredential(candidate);
  const credential =
    sent === null ? null : { id: sent.id, as: digest([sent.id, sent.secret?.reveal() ?? ''], 6) };
  const parts = [provider.baseUrl, provider.authMode, provider.authHeaderName ?? '', endpoint.upstreamModel];
  const configured = {
    endpoint: digest([...parts, credential?.as ?? '', ...extrasOf(provider)], 12),
    credential,
  };
  known.set(candidate, configured);
  return configured;
}

/** Empty where there are none, so that gateways of the version before agree on the digest. */
function extrasOf({ extraHeaders, extraQuery, awsRegion, awsService }: Provider): string[] {
  const aws = [awsRegion, awsService];
  const extras = [extraHeaders, extraQuery, ...(aws.every((each) => each === null) ? [] : aws)];
  return extras.every((each) => each === null) ? [] : [JSON.stringify(extras)];
}

function digest(parts: readonly string[], characters: number): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, characters);
}
