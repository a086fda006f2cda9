import type { Fault } from '@relay/provider-sim';
import { chatModes, everyMode, type ModeName } from '../harness/mode.ts';
import { type Expectation, type FaultRow, forModes, row } from './expectation.ts';
import { ELSEWHERE } from './quotes.ts';

// Responses with a status of failure. Unless a row says otherwise, they show the key (quotes.ts).

/** For statuses that have a sibling in every mode. */
const someModes: readonly ModeName[] = [...chatModes, 'messages stream'];

const refused = (status: number): Expectation => ({ kind: 'refused', status });
const passed = (status: number): Expectation => ({ kind: 'passed', status });

function rejected(status: number): Expectation {
  const code = status < 400 ? 'upstream_redirected' : 'upstream_credential_refused';
  return { kind: 'rejected', status, code };
}

function eachStatus(
  statuses: readonly number[],
  names: readonly ModeName[],
  outcome: (status: number) => Expectation,
): FaultRow[] {
  return statuses.map((status) => ({
    name: String(status),
    fault: { status },
    expect: forModes(names, outcome(status)),
    ...(status === 304 ? { silent: true } : {}),
  }));
}

/** An error whose body cannot be read: what is known is its status. */
function brokenError(name: string, how: Fault, code: 'upstream_timeout' | 'upstream_invalid_response') {
  return [
    {
      name: `500 whose body ${name}`,
      fault: { status: 500, ...how },
      expect: forModes(everyMode, { kind: 'lost', code, attemptStatus: 500 }),
    },
    {
      name: `401 whose body ${name}`,
      fault: { status: 401, ...how },
      silent: true,
      expect: forModes(chatModes, rejected(401)),
    },
  ] as const;
}

function paused(status: number): FaultRow {
  return {
    name: `${status} with a Retry-After within the budget`,
    fault: { status, retryAfter: '1' },
    bench: 'patient',
    expect: forModes(chatModes, { kind: 'paused', status }),
  };
}

export const rowsStatuses: readonly FaultRow[] = [
  ...eachStatus([404, 429, 500, 503], everyMode, refused),
  ...eachStatus([408, 409, 425, 502, 504, 529], someModes, refused),
  ...eachStatus([501], chatModes, refused),
  ...eachStatus([400], everyMode, passed),
  ...eachStatus([405, 413, 415], someModes, passed),
  ...eachStatus([410, 418, 451], chatModes, passed),
  ...eachStatus([401, 307], everyMode, rejected),
  ...eachStatus([402, 403, 407, 301, 303, 304, 308], someModes, rejected),
  row('a redirect', { redirectTo: ELSEWHERE }, forModes(everyMode, rejected(302)), { silent: true }),

  row('500 from the head alone', { early: true, status: 500 }, forModes(everyMode, refused(500))),
  row('413 from the head alone', { early: true, status: 413 }, forModes(everyMode, passed(413))),
  row('500 with a page', { status: 500, html200: true }, forModes(everyMode, refused(500)), {
    answerHeaders: { 'content-type': 'text/html; charset=utf-8' },
  }),
  row('500 without a body', { status: 500, emptyBody: true }, forModes(everyMode, refused(500))),
  row(
    '500 that says that a retry can help',
    { status: 500, headers: { 'x-should-retry': 'true', 'x-provider-note': 'not ours' } },
    forModes(everyMode, refused(500)),
    { answerHeaders: { 'x-should-retry': 'true', 'x-provider-note': null } },
  ),
  ...brokenError('is cut off', { cutAfterBytes: 5 }, 'upstream_invalid_response'),
  ...brokenError('never comes', { stallAfterFrames: 0 }, 'upstream_timeout'),
  row(
    '422 with words of its own',
    { status: 422, body: { detail: [{ msg: 'no', big: 1 }] } },
    forModes(everyMode, passed(422)),
  ),
  row('400, compressed', { status: 400, encoding: 'gzip' }, forModes(someModes, passed(400)), {
    requestHeaders: { 'accept-encoding': 'gzip' },
    answerHeaders: { 'content-encoding': null },
  }),
  row('401, compressed', { status: 401, encoding: 'gzip' }, forModes(someModes, rejected(401))),

  row(
    '429 with Retry-After',
    { status: 429, retryAfter: '1', rateLimitHeaders: true },
    forModes(everyMode, refused(429)),
    { answerHeaders: { 'retry-after': '1', 'x-ratelimit-remaining-requests': null } },
  ),
  row(
    '503 with retry-after-ms',
    { status: 503, headers: { 'retry-after-ms': '900' } },
    forModes(everyMode, refused(503)),
    { answerHeaders: { 'retry-after-ms': '900' } },
  ),
  row(
    '429 with a Retry-After that says nothing',
    { status: 429, retryAfter: 'soon' },
    forModes(everyMode, refused(429)),
    { bench: 'patient', answerHeaders: { 'retry-after': 'soon' } },
  ),
  row(
    '429 with a Retry-After beyond the budget',
    { status: 429, retryAfter: '31140' },
    forModes(chatModes, refused(429)),
    { bench: 'patient', answerHeaders: { 'retry-after': '31140' } },
  ),
  paused(429),
  paused(503),
];
