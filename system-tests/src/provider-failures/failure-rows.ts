import type { Fault } from '@relay/provider-sim';

/** What a failure must lead to. The rules are written down here once more, and not read from the server. */
export type Outcome =
  /** The client's own error: it passes through, also when another candidate is left. */
  | { readonly kind: 'own'; readonly status: number }
  /** The next candidate; otherwise the provider's answer. */
  | { readonly kind: 'moves'; readonly status: number }
  /** The next candidate; otherwise 502 without anything of the answer. */
  | { readonly kind: 'rejected'; readonly status: number; readonly code: string }
  /** No complete answer: the next candidate; otherwise 502. */
  | { readonly kind: 'lost'; readonly status: number | null; readonly code: string }
  /** The next candidate; otherwise the same one again, after the pause that it asked for. */
  | { readonly kind: 'paused'; readonly status: number }
  /** A stream that reports an error before content: the next candidate; otherwise the stream. */
  | { readonly kind: 'held' };

export interface FailureRow {
  readonly name: string;
  readonly outcome: Outcome;
  /** What the first provider does, in addition to quoting the key; for `place` other than `provider` nothing. */
  readonly fault: Fault;
  readonly place?: 'closed port' | 'unknown host';
  /** Only where a stream is asked for. */
  readonly streamingOnly?: boolean;
  /** The answer has no body. */
  readonly silent?: boolean;
}

/** Shorter than the pause of a row that waits for nothing, longer than that of one that does. */
export const WAIT_MS_MAX = 3_000;

const raw = (text: string) => Buffer.from(text).toString('base64');

const redirects: readonly FailureRow[] = [301, 302, 303, 304, 307, 308].map((status) => ({
  name: `${status} with Location`,
  outcome: { kind: 'rejected', status, code: 'upstream_redirected' },
  fault: { status },
  silent: status === 304,
}));

const credentials: readonly FailureRow[] = [401, 402, 403, 407].map((status) => ({
  name: `${status}`,
  outcome: { kind: 'rejected', status, code: 'upstream_credential_refused' },
  fault: { status },
}));

const moving: readonly FailureRow[] = [404, 408, 409, 425, 429, 500, 502, 503, 504, 529].map((status) => ({
  name: `${status}`,
  outcome: { kind: 'moves', status },
  fault: { status },
}));

const own: readonly FailureRow[] = [400, 405, 413, 415, 422].map((status) => ({
  name: `${status}`,
  outcome: { kind: 'own', status },
  fault: { status },
}));

const refused = { kind: 'rejected', status: 401, code: 'upstream_credential_refused' } as const;
const lost = (code: string, status: number | null = null): Outcome => ({ kind: 'lost', status, code });

const others: readonly FailureRow[] = [
  { name: '401, compressed', outcome: refused, fault: { status: 401, encoding: 'gzip' } },
  {
    name: '401 whose body never comes',
    outcome: refused,
    fault: { status: 401, stallAfterFrames: 0 },
    silent: true,
  },
  { name: '401 whose body is cut', outcome: refused, fault: { status: 401, cutAfterBytes: 5 }, silent: true },
  {
    name: '400, compressed',
    outcome: { kind: 'own', status: 400 },
    fault: { status: 400, encoding: 'gzip' },
  },
  {
    name: '429 with a Retry-After within the budget',
    outcome: { kind: 'paused', status: 429 },
    fault: { status: 429, retryAfter: '1' },
  },
  {
    name: '503 with a Retry-After within the budget',
    outcome: { kind: 'paused', status: 503 },
    fault: { status: 503, retryAfter: '1' },
  },
  {
    name: '429 with a Retry-After beyond the budget',
    outcome: { kind: 'moves', status: 429 },
    fault: { status: 429, retryAfter: '31140' },
  },
  {
    name: '429 with a Retry-After that says nothing',
    outcome: { kind: 'moves', status: 429 },
    fault: { status: 429, retryAfter: 'soon' },
  },
  { name: 'connection refused', outcome: lost('upstream_unreachable'), fault: {}, place: 'closed port' },
  { name: 'unknown host', outcome: lost('upstream_unreachable'), fault: {}, place: 'unknown host' },
  { name: 'reset on accept', outcome: lost('upstream_unreachable'), fault: { resetOnAccept: true } },
  {
    name: 'closed before the head',
    outcome: lost('upstream_unreachable'),
    fault: { cutBeforeHeaders: true },
  },
  { name: 'no head in time', outcome: lost('upstream_timeout'), fault: { stallBeforeHeaders: true } },
  {
    name: 'not HTTP',
    outcome: lost('upstream_invalid_response'),
    fault: { rawSocketBase64: raw('SSH-2.0-OpenSSH_9.9\r\n\r\n') },
  },
  {
    name: 'an answer that is cut',
    outcome: lost('upstream_invalid_response', 200),
    fault: { cutAfterBytes: 12 },
  },
  { name: 'a page', outcome: lost('upstream_invalid_response', 200), fault: { html200: true } },
  {
    name: 'an error that is cut',
    outcome: lost('upstream_invalid_response', 500),
    fault: { status: 500, cutAfterBytes: 5 },
  },
  {
    name: 'an error that never comes',
    outcome: lost('upstream_timeout', 500),
    fault: { status: 500, stallAfterFrames: 0 },
  },
  { name: 'an error frame before content', outcome: { kind: 'held' }, fault: {}, streamingOnly: true },
];

export const failureRows: readonly FailureRow[] = [
  ...redirects,
  ...credentials,
  ...moving,
  ...own,
  ...others,
];
