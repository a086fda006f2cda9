import { isIP } from 'node:net';
import type { AddressPolicy } from './address.ts';

/** Where requests of one upstream go: the origin that is dialled and the path every request starts with. */
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
  credentials: 'must not carry a user name or password; store a credential instead',
  query_or_fragment: 'must not carry a query or fragment',
  characters: 'must not contain backslashes, spaces, control characters or encoded separators',
  address:
    'points into a private, loopback or reserved network; the operator can open one with RELAY_ALLOW_PRIVATE_NETWORKS',
};

// A URL parser forgives these (it drops tabs, turns \ into /), and what it forgives another one may read
// differently; encoded separators and NUL mean something only to a second decoding further along.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const CONFUSING = /[\u0000-\u0020\\\u007f-\u009f]|%(?:00|0a|0d|23|2f|3f|40|5c)/i;

export function parseTargetUrl(text: string): TargetUrl | TargetUrlProblem {
  if (CONFUSING.test(text)) return 'characters';
  if (!URL.canParse(text)) return 'not_a_url';
  const url = new URL(text);
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
 * The early answer, for whoever saves a URL. A host name passes here: what it resolves to is judged at
 * every dial, because names can point elsewhere a moment later.
 */
export function checkTargetUrl(text: string, policy: AddressPolicy): TargetUrl | TargetUrlProblem {
  const target = parseTargetUrl(text);
  if (typeof target === 'string') return target;
  if (isIP(target.hostname) !== 0 && !policy.allows(target.hostname)) return 'address';
  if (isLocalName(target.hostname) && !policy.allows('127.0.0.1')) return 'address';
  return target;
}

/** A trailing dot only says that the name is complete. */
function isLocalName(hostname: string): boolean {
  return /(?:^|\.)localhost\.*$/.test(hostname);
}

function unbracket(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
