import { isIP } from 'node:net';
import type { AddressPolicy } from './address.ts';

/** Where requests to one upstream go: the origin to connect to and the path that every request starts with. */
export interface TargetUrl {
  readonly origin: string;
  readonly hostname: string;
  /** Without a trailing slash; empty for the root. */
  readonly pathPrefix: string;
}

export type TargetUrlProblem =
  | 'not_a_url'
  | 'scheme'
  | 'credentials'
  | 'query_or_fragment'
  | 'characters'
  | 'address';

export const targetUrlProblems: Record<TargetUrlProblem, string> = {
  not_a_url: 'is not an absolute URL such as https://api.example.com/v1',
  scheme: 'must start with https:// or http://',
  credentials: 'must not contain a user name or password; store a credential instead',
  query_or_fragment: 'must not contain a query or fragment',
  characters: 'must not contain backslashes, spaces, control characters or encoded separators',
  address:
    'points to a private, loopback or reserved address; the operator can allow a network with RELAY_ALLOW_PRIVATE_NETWORKS, and `relay start` allows loopback while it listens on loopback only',
};

// A URL parser accepts these (it drops tabs and turns \ into /), and another parser may read them differently. Encoded
// separators and NUL only matter to a second decoder.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const CONFUSING = /[\u0000-\u0020\\\u007f-\u009f]|%(?:00|0a|0d|23|2f|3f|40|5c)/i;

export function parseTargetUrl(text: string): TargetUrl | TargetUrlProblem {
  if (CONFUSING.test(text)) return 'characters';
  const url = URL.parse(text);
  if (url === null) return 'not_a_url';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme';
  if (url.username !== '' || url.password !== '' || text.includes('@')) return 'credentials';
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) return 'query_or_fragment';
  return {
    origin: url.origin,
    hostname: unbracket(url.hostname),
    pathPrefix: url.pathname.replace(/\/+$/, ''),
  };
}

/**
 * The check when a URL is saved. A host name passes: what it resolves to is checked at every connection, because it can change
 * at any time.
 */
export function checkTargetUrl(text: string, policy: AddressPolicy): TargetUrl | TargetUrlProblem {
  const target = parseTargetUrl(text);
  if (typeof target === 'string') return target;
  if (isIP(target.hostname) !== 0 && !policy.allows(target.hostname)) return 'address';
  if (isLocalName(target.hostname) && !policy.allows('127.0.0.1')) return 'address';
  return target;
}

/** A trailing dot only marks a name as complete. */
function isLocalName(hostname: string): boolean {
  return /(?:^|\.)localhost\.*$/.test(hostname);
}

function unbracket(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
