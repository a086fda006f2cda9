import type { Operation } from './ask.ts';
import type { HeaderFacts } from './inspect-headers.ts';
import { type Refusal, refusal } from './openai-error.ts';

export interface Admittance {
  /** Null takes any key that is not empty. */
  keys: Set<string> | null;
  anonymous: boolean;
}

const anthropicVersions = ['2023-01-01', '2023-06-01', '2026-10-21'];

/** Refusals by headers alone: leaked client headers, a wrong key, a wrong content type. */
export function refuseHead(
  given: Admittance,
  operation: Operation,
  facts: HeaderFacts,
  anthropic: boolean,
): Refusal | null {
  const authorized = given.keys === null ? facts.key !== '' : given.keys.has(facts.key);
  if (!authorized && !given.anonymous) {
    const missing = anthropic
      ? 'x-api-key header is required'
      : "You didn't provide an API key. Provide it in an Authorization header using Bearer auth.";
    const wrong = anthropic ? 'invalid x-api-key' : 'Incorrect API key provided.';
    return refusal(401, facts.key === '' ? missing : wrong, 'invalid_api_key', null);
  }
  if (anthropic && facts.anthropicVersion === null)
    return refusal(400, 'anthropic-version: header is required', 'invalid_request', null);
  if (anthropic && !anthropicVersions.includes(facts.anthropicVersion ?? ''))
    return refusal(400, `anthropic-version: "${facts.anthropicVersion}" is not a valid version`, null, null);
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
