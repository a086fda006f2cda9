import { countWords } from '@relay/contract/words';
import { type AuthMode, authStyles } from '../../domain/upstream-auth.ts';
import type { Egress } from '../../kit/egress/index.ts';
// Imports the file, not the egress module's index, so that checking a URL does not load the HTTP client.
import { parseTargetUrl, targetUrlProblems } from '../../kit/egress/target-url.ts';
import { invalidField } from './refusals.ts';

const BASE_URL_CHARACTERS_MAX = 2048;
const PLACEHOLDER = /\{[^{}]*\}/;

/** Checks a base URL as the egress does, and returns the stored form, without a trailing slash. */
export function checkedBaseUrl(egress: Pick<Egress, 'check'>, baseUrl: string): string {
  const [placeholder] = PLACEHOLDER.exec(baseUrl) ?? [];
  if (placeholder !== undefined)
    throw invalidField('base_url', `base_url still has ${placeholder}. Replace it with your own value.`);
  const target = egress.check(baseUrl);
  if (typeof target === 'string') throw invalidField('base_url', `base_url ${targetUrlProblems[target]}.`);
  const stored = target.origin + target.pathPrefix;
  if (stored.length <= BASE_URL_CHARACTERS_MAX) return stored;
  throw invalidField(
    'base_url',
    `base_url must have at most ${countWords(BASE_URL_CHARACTERS_MAX)} characters once encoded.`,
  );
}

export function sameOrigin(one: string, other: string): boolean {
  const [a, b] = [parseTargetUrl(one), parseTargetUrl(other)];
  return typeof a !== 'string' && typeof b !== 'string' && a.origin === b.origin;
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Headers that control the connection or the message, or that carry another identity. */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);

const RESERVED_PREFIX = /^(?:proxy-|sec-|x-forwarded-|x-relay-|:)/;

export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}

export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || RESERVED_PREFIX.test(lower);
}

export function demandAuthHeader(
  authMode: AuthMode,
  headerName: string | null,
  param: 'auth_header_name' | 'secret_header_name' = 'auth_header_name',
): void {
  if (headerName === null) {
    if (!authStyles[authMode].needsHeaderName) return;
    throw invalidField(
      param,
      `auth_mode ${authMode} needs ${param}, the header that carries the secret, such as x-api-key.`,
    );
  }
  const name = headerName.toLowerCase();
  if (!isHeaderName(name)) throw invalidField(param, `${param} is not a valid header name.`);
  if (!isReservedHeader(name)) return;
  throw invalidField(
    param,
    `${param} must not be ${name}: Relay or HTTP reserves that header. Use the header the provider expects, such as x-api-key.`,
  );
}
