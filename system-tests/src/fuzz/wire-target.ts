import type { Random } from '../chaos/random.ts';
import { talk } from '../harness/raw-connection.ts';
import { judgeError, offContract, type Verdict } from './judge.ts';
import { bodyOf, mutatedBytes } from './mutate.ts';
import type { InputContext, Target } from './target.ts';

const SILENCE_MS_MAX = 3_000;

/** Requests that no HTTP library sends: framing, request lines and headers that parsers disagree about. */
export const wireTarget: Target = {
  name: 'wire',
  weight: 2,
  async one(context) {
    const bytes = wireOf(context);
    const { responses } = await talk({
      url: context.site.selfHosted.url,
      // The end of the sending side lets the server give up waiting for the rest.
      send: (socket) => socket.end(bytes),
      untilClosed: true,
      timeoutMs: SILENCE_MS_MAX,
    });
    // Nothing tells where the response to HEAD ends: it announces a body that does not come.
    const isHead = bytes.subarray(0, 5).toString('latin1') === 'HEAD ';
    const last = responses.findLast(({ status }) => status >= 200);
    return {
      verdict: responses.map((each) => judgeOne(each, isHead)).find((each) => each !== null) ?? null,
      status: last?.status ?? 0,
      shown: JSON.stringify(
        bytes.toString('latin1').slice(0, 400).replaceAll(context.ground.inference.key, '…'),
      ),
    };
  },
};

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function judgeOne({ status, headers, body }: Response, isHead: boolean): Verdict | null {
  if (headers['x-smuggled'] !== undefined) return offContract('a smuggled request was answered');
  if (status < 400 || headers['x-relay-error-source'] === 'upstream' || body === '') return null;
  // A body in chunks is not taken apart here.
  if (isHead || headers['transfer-encoding'] !== undefined) return null;
  return judgeError({ status, headers, body: Buffer.from(body), whole: true }, null);
}

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'TRACE',
  'CONNECT',
  'PURGE',
  'get',
  'PRI',
  'M-SEARCH',
  '',
];
const TARGETS = [
  ...[
    '/v1/models',
    '/v1/chat/completions',
    '/api/account',
    '/api/relay/lanes',
    '/livez',
    '/metrics',
    '*',
    '',
    '/',
    '//evil/v1/models',
  ],
  ...[
    '/v1/../api/account',
    '/v1/%2e%2e/api/account',
    '/V1/models',
    '/v1//models',
    'http://evil/v1/models',
    '/\\evil',
    '/v1/models%00',
  ],
  ...[
    '/docs/errors/../../etc/passwd',
    '/docs/errors/%2e%2e%2f',
    '/assets/../index.html',
    '/.env',
    '/v1/models?a=%',
    '/api/relay/%c0%ae',
  ],
];
const HEADERS = [
  ...[
    'Expect: 100-continue',
    'Expect: x',
    'Content-Encoding: gzip',
    'X-Relay-Context: a',
    'X_Relay_Context: a',
    'Upgrade: websocket',
  ],
  ...[
    'Connection: upgrade',
    'Connection: close, authorization',
    'Range: bytes=0-',
    'Origin: null',
    'X-HTTP-Method-Override: DELETE',
  ],
  ...[
    'Trailer: Authorization',
    'traceparent: 00-0-0-0',
    'Accept: text/event-stream',
    'Last-Event-ID: x',
    ' folded: x',
    'Bad Header: x',
  ],
  ...[
    'X-\0: 1',
    `X: ${'y'.repeat(20_000)}`,
    'Host: other',
    'Content-Length: 0',
    'Transfer-Encoding: identity',
    'Cookie: relay_session=%00',
  ],
];
const FRAMINGS: readonly ((body: Buffer) => readonly [string[], Buffer])[] = [
  (body) => [[`Content-Length: ${body.length}`], body],
  (body) => [
    ['Transfer-Encoding: chunked'],
    Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]),
  ],
  (body) => [[`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'], body],
  (body) => [[`Content-Length: ${body.length}`, `Content-Length: ${body.length + 1}`], body],
  (body) => [['Transfer-Encoding: xchunked'], body],
  (body) => [['Transfer-Encoding : chunked'], body],
  (body) => [[`Content-Length: +${body.length}`], body],
  (body) => [['Content-Length: -1'], body],
  () => [['Transfer-Encoding: chunked'], Buffer.from('ffffffffffffffff\r\nx')],
  () => [['Transfer-Encoding: chunked'], Buffer.from('5\r\nabcdeXX0\r\n\r\n')],
  (body) => [
    ['Transfer-Encoding: chunked'],
    Buffer.concat([Buffer.from(`1;${'e'.repeat(20_000)}\r\n`), body]),
  ],
  (body) => [[`Content-Length: ${body.length + 50}`], body],
  () => [[], Buffer.alloc(0)],
];

function wireOf({ random, ground }: InputContext): Buffer {
  const body = bodyOf({ model: ground.lane, messages: [{ role: 'user', content: 'hi' }] }, random);
  const [framing, sent] = random.pick(FRAMINGS)(body);
  const lines = [
    `${random.pick(METHODS)} ${random.pick(TARGETS)} ${random.pick(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''])}`,
    ...(random.chance(0.95) ? ['Host: relay'] : []),
    `Authorization: Bearer ${ground.inference.key}`,
    'Content-Type: application/json',
    ...framing,
    ...(random.chance(0.5) ? [random.pick(HEADERS)] : []),
  ];
  const head = Buffer.from(`${lines.join(lineEnd(random))}\r\n\r\n`, 'latin1');
  const more = random.chance(0.2) ? Buffer.from('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n') : Buffer.alloc(0);
  const bytes = Buffer.concat([head, sent, more]);
  return random.chance(0.1) ? mutatedBytes(bytes, random) : bytes;
}

function lineEnd(random: Random): string {
  return random.chance(0.03) ? random.pick(['\n', '\r', '\r\r\n']) : '\r\n';
}
