import { chatModes, everyMode } from '../harness/mode.ts';
import { type FaultRow, forModes, type LostCode, row } from './expectation.ts';

// Faults before a response begins, and responses that are not valid HTTP.

const answered = forModes(everyMode, { kind: 'answered' });

function lost(code: LostCode): FaultRow['expect'] {
  return forModes(everyMode, { kind: 'lost', code, attemptStatus: null });
}

function raw(text: string): string {
  return Buffer.from(text).toString('base64');
}

export const rowsBeforeAnswer: readonly FaultRow[] = [
  row('a short delay', { delayMs: 100 }, answered),
  row('a delay past the deadline', { delayMs: 10_000 }, lost('upstream_timeout'), {
    says: /no response within 3 ?,?000 ms|no response within 3 s/,
  }),
  row('never answers', { stallBeforeHeaders: true }, lost('upstream_timeout')),
  row('nobody listens', {}, lost('upstream_unreachable'), {
    bench: 'closed port',
    says: /connection refused/,
  }),
  row(
    'unknown host',
    {},
    forModes(chatModes, { kind: 'lost', code: 'upstream_unreachable', attemptStatus: null }),
    { bench: 'unknown host' },
  ),
  row('closes on accept', { refuseConnection: true }, lost('upstream_unreachable')),
  row('resets on accept', { resetOnAccept: true }, lost('upstream_unreachable')),
  row('closes once the request is read', { cutBeforeHeaders: true }, lost('upstream_unreachable')),
  row(
    'resets once the request is read',
    { cutBeforeHeaders: true, resetOnCut: true },
    lost('upstream_unreachable'),
  ),
  row('hints first', { informational: 3 }, answered),
  row('a 101 nobody asked for', { status101: true }, lost('upstream_invalid_response')),
  row('not HTTP', { rawSocketBase64: raw('SSH-2.0-OpenSSH_9.9\r\n\r\n') }, lost('upstream_invalid_response')),
  row('half a status line', { rawSocketBase64: raw('HTTP/1.1 2') }, lost('upstream_unreachable')),
  row('headers past every bound', { hugeHeaders: 131_072 }, lost('upstream_invalid_response')),
  row('large headers', { hugeHeaders: 8_192 }, answered),
];
