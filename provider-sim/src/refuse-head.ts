import type { Operation } from './ask.ts';
import type { HeaderFacts } from './inspect-headers.ts';
import { type Refusal, refusal } from './openai-error.ts';

export interface Admittance {
  /** Null takes any key that is not empty. */
  keys: Set<string> | null;
  anonymous: boolean;
}

/** Refusals by headers alone: leaked client headers, a wrong key, a wrong content type. */
export function refuseHead(given: Admittance, operation: Operation, facts: HeaderFacts): Refusal | null {
  const authorized = given.keys === null ? facts.key !== '' : given.keys.has(facts.key);
  if (!authorized && !given.anonymous) {
    const message =
      facts.key === ''
        ? "You didn't provide an API key. Provide it in an Authorization header using Bearer auth."
        : 'Incorrect API key provided.';
    return refusal(401, message, 'invalid_api_key', null);
  }
  if (operation === 'models') return null;
  if (!/^application\/json\s*(;|$)/i.test(facts.contentType)) {
    const message = `Unsupported content type: '${facts.contentType}'. This API method only accepts 'application/json' requests.`;
    return refusal(400, message, 'unsupported_content_type', null);
  }
  if (facts.contentEncoding !== '' && facts.contentEncoding !== 'identity') {
    const message = `Unsupported content encoding: '${facts.contentEncoding}'.`;
    return refusal(400, message, 'unsupported_content_encoding', null);
  }
  return null;
}

export function refuseViolations(violations: string[]): Refusal | null {
  if (violations.length === 0) return null;
  const message = `The request holds what a provider must never see: ${violations.join(', ')}.`;
  return refusal(400, message, 'sim_violation', null);
}
