import { everyMode } from '../harness/mode.ts';
import { type Expectation, type FaultRow, forModes, type LostCode } from './expectation.ts';

// Faults before a response begins, and responses that are not valid HTTP.

const answered = forModes(everyMode, { kind: 'answered' });

function lost(code: LostCode): FaultRow['expect'] {
  return forModes(everyMode, { kind: 'lost', code });
}

function refused(status: number): FaultRow['expect'] {
  return forModes(everyMode, { kind: 'refused', status });
}

function rejected(status: number): FaultRow['expect'] {
  const code = status < 400 ? 'upstream_redirected' : 'upstream_credential_refused';
  return forModes(everyMode, { kind: 'rejected', status, code });
}

function passed(status: number): FaultRow['expect'] {
  const expectation: Expectation = { kind: 'passed', status };
  return forModes(everyMode, expectation);
}

function raw(text: string): string {
  return Buffer.from(text).toString('base64');
}

export const rowsBeforeAnswer: readonly FaultRow[] = [
  { name: 'a short delay', fault: { delayMs: 100 }, expect: answered },
  { name: 'a delay past the deadline', fault: { delayMs: 10_000 }, expect: lost('upstream_timeout') },
  { name: 'never answers', fault: { stallBeforeHeaders: true }, expect: lost('upstream_timeout') },
  { name: 'nobody listens', fault: {}, bench: 'closed port', expect: lost('upstream_unreachable') },
  { name: 'closes on accept', fault: { refuseConnection: true }, expect: lost('upstream_unreachable') },
  { name: 'resets on accept', fault: { resetOnAccept: true }, expect: lost('upstream_unreachable') },
  {
    name: 'closes once the request is read',
    fault: { cutBeforeHeaders: true },
    expect: lost('upstream_unreachable'),
  },
  {
    name: 'resets once the request is read',
    fault: { cutBeforeHeaders: true, resetOnCut: true },
    expect: lost('upstream_unreachable'),
  },
  { name: 'hints first', fault: { informational: 3 }, expect: answered },
  {
    name: 'a 101 nobody asked for',
    fault: { status101: true },
    expect: lost('upstream_invalid_response'),
  },
  {
    name: 'not HTTP',
    fault: { rawSocketBase64: raw('SSH-2.0-OpenSSH_9.9\r\n\r\n') },
    expect: lost('upstream_invalid_response'),
  },
  {
    name: 'half a status line',
    fault: { rawSocketBase64: raw('HTTP/1.1 2') },
    expect: lost('upstream_unreachable'),
  },
  {
    name: 'headers past every bound',
    fault: { hugeHeaders: 131_072 },
    expect: lost('upstream_invalid_response'),
  },
  { name: 'large headers', fault: { hugeHeaders: 8_192 }, expect: answered },

  { name: '500', fault: { status: 500 }, expect: refused(500) },
  { name: '502', fault: { status: 502 }, expect: refused(502) },
  { name: '503', fault: { status: 503 }, expect: refused(503) },
  { name: '529', fault: { status: 529 }, expect: refused(529) },
  { name: '500 from the head alone', fault: { early: true, status: 500 }, expect: refused(500) },
  {
    name: '500 with a page',
    fault: { status: 500, html200: true },
    expect: refused(500),
    answerHeaders: { 'content-type': 'text/html; charset=utf-8' },
  },
  { name: '500 without a body', fault: { status: 500, emptyBody: true }, expect: refused(500) },
  {
    name: '500 that claims to be retryable',
    fault: { status: 500, headers: { 'x-should-retry': 'true', 'x-provider-note': 'not ours' } },
    expect: refused(500),
    answerHeaders: { 'x-should-retry': null, 'x-provider-note': null },
  },
  {
    name: '500 whose body is cut off',
    fault: { status: 500, cutAfterFrames: 1 },
    expect: forModes(everyMode, { kind: 'lost', code: 'upstream_invalid_response', attemptStatus: 500 }),
  },
  {
    name: '500 whose body never comes',
    fault: { status: 500, stallAfterFrames: 0 },
    expect: forModes(everyMode, { kind: 'lost', code: 'upstream_timeout', attemptStatus: 500 }),
  },
  { name: '429', fault: { status: 429 }, expect: refused(429), answerHeaders: { 'retry-after': null } },
  {
    name: '429 with Retry-After',
    fault: { status: 429, retryAfter: '1', rateLimitHeaders: true },
    cooldownMs: 1_000,
    expect: refused(429),
    answerHeaders: { 'retry-after': '1', 'x-ratelimit-remaining-requests': null },
  },
  {
    name: '503 with retry-after-ms',
    fault: { status: 503, headers: { 'retry-after-ms': '300' } },
    cooldownMs: 300,
    expect: refused(503),
    answerHeaders: { 'retry-after-ms': '300' },
  },
  {
    name: '429 with a Retry-After that says nothing',
    fault: { status: 429, retryAfter: 'soon' },
    expect: refused(429),
    answerHeaders: { 'retry-after': 'soon' },
  },

  { name: '400', fault: { status: 400 }, expect: passed(400) },
  { name: '401', fault: { status: 401 }, expect: rejected(401) },
  { name: '404', fault: { status: 404 }, expect: refused(404) },
  { name: '408', fault: { status: 408 }, expect: refused(408) },
  {
    name: '422 with words of its own',
    fault: { status: 422, body: { detail: [{ msg: 'no', big: 1 }] } },
    expect: passed(422),
  },
  { name: '413 from the head alone', fault: { early: true, status: 413 }, expect: passed(413) },
  {
    name: 'a redirect',
    fault: { redirectTo: 'http://127.0.0.1:9/elsewhere' },
    expect: rejected(302),
  },
  {
    name: 'a redirect that keeps the method',
    fault: { status: 308, redirectTo: 'http://127.0.0.1:9/elsewhere' },
    expect: rejected(308),
  },
];
