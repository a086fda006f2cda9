import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { memberText, oddMember, space, valueText } from './odd-json.ts';
import { oddStream } from './odd-stream.ts';
import type { RequestCase } from './request-cases.ts';

export interface AnswerCase {
  readonly kind: 'json' | 'stream' | 'error' | 'text';
  readonly status: number;
  /** Names and values in turn, as they are written. */
  readonly headers: readonly string[];
  /** The body in the pieces in which it is written. */
  readonly pieces: readonly Buffer[];
  /** What the client must get. */
  readonly expected: Buffer;
}

type Encoding = 'gzip' | 'br' | 'deflate';

const encoders: Record<Encoding, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => gzipSync(bytes, { level: 1 }),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  deflate: (bytes) => deflateSync(bytes, { level: 1 }),
};

const encoding = fc.constantFrom<Encoding | null>(null, null, null, 'gzip', 'br', 'deflate');

const headerName = fc.constantFrom(
  ...['x-odd', 'X-Odd-Case', 'openai-version', 'openai-processing-ms', "x-!#$%&'*+.^_`|~9", 'cache-control'],
  ...['etag', 'x-llm-region', 'vary', 'link', 'content-language', '42', 'x-robots-tag'],
);
const headerValue = fc.oneof(
  fc.constantFrom(
    '',
    '1',
    'a, b;c="d"',
    'tab\tinside',
    '"quoted", W/"x"',
    'caf\u00e9 \u00ff',
    'x'.repeat(2_000),
  ),
  fc.string({ maxLength: 20 }).map((text) => text.replace(/[^\x20-\x7e]/g, '').trim()),
);
const oddHeaders = fc.array(fc.tuple(headerName, headerValue), { maxLength: 5 });

/** With these members, and odd ones. */
function jsonWith(...own: readonly string[]): fc.Arbitrary<Buffer> {
  return fc.tuple(space, fc.array(oddMember, { maxLength: 5 }), space).map(([before, members, after]) =>
    // Invalid usage of the provider passes unchanged.
    Buffer.from(`${before}{${[...own, ...members.map(memberText)].join(',')}}${after}`),
  );
}

const jsonBody = jsonWith();
/** An error and no content gets the status of an error. */
const jsonAnswer = jsonWith('"choices":[{}]');
const errorBody = fc.oneof(
  jsonBody,
  valueText.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.from('<html><body>Bad Gateway</body></html>')),
);

interface Draft {
  readonly kind: AnswerCase['kind'];
  readonly status: number;
  readonly contentType: string | null;
  readonly sent: Buffer;
  readonly expectedPlain: Buffer;
}

function jsonDraft(): fc.Arbitrary<Draft> {
  return fc.record({
    kind: fc.constant('json' as const),
    status: fc.constantFrom(200, 200, 200, 201),
    contentType: fc.constantFrom(
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      null,
    ),
    sent: jsonAnswer,
    expectedPlain: fc.constant(Buffer.alloc(0)),
  });
}

function errorDraft(): fc.Arbitrary<Draft> {
  return fc.record({
    kind: fc.constant('error' as const),
    // Without those that concern Relay's own credential or address, which Relay answers itself.
    status: fc.constantFrom(400, 404, 409, 418, 422, 429, 451, 500, 502, 503, 529),
    contentType: fc.constantFrom('application/json', 'text/html', 'text/event-stream', null),
    sent: errorBody,
    expectedPlain: fc.constant(Buffer.alloc(0)),
  });
}

function textDraft(): fc.Arbitrary<Draft> {
  return fc.record({
    kind: fc.constant('text' as const),
    status: fc.constant(200),
    contentType: fc.constantFrom('text/plain', 'application/octet-stream'),
    sent: fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
    expectedPlain: fc.constant(Buffer.alloc(0)),
  });
}

/** `gatewayAsked`: the gateway asked for usage that the client did not want, and keeps that frame to itself. */
function streamDraft(
  operation: 'chat' | 'responses' | 'messages',
  gatewayAsked: boolean,
): fc.Arbitrary<Draft> {
  return fc
    .record({ stream: oddStream(operation), contentType: streamType })
    .map(({ stream, contentType }) => ({
      kind: 'stream',
      status: 200,
      contentType,
      sent: stream.whole,
      expectedPlain: gatewayAsked ? stream.withoutUsage : stream.whole,
    }));
}

const streamType = fc.constantFrom(
  'text/event-stream',
  'text/event-stream; charset=utf-8',
  'Text/Event-Stream;x=1',
);

export function answerCase(request: RequestCase): fc.Arbitrary<AnswerCase> {
  const { operation, streaming } = request;
  const plain = [
    { weight: 8, arbitrary: jsonDraft() },
    { weight: 2, arbitrary: errorDraft() },
    { weight: 1, arbitrary: textDraft() },
  ];
  const gatewayAsked = operation === 'chat' && streaming && !request.wantsUsage;
  const drafts =
    operation === 'embeddings'
      ? plain
      : [...plain, { weight: streaming ? 40 : 1, arbitrary: streamDraft(operation, gatewayAsked) }];
  return fc
    .record({
      draft: fc.oneof(...drafts),
      encoding,
      oddHeaders,
      chunked: fc.boolean(),
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 9 }),
      byByte: fc.constantFrom(false, false, false, true),
    })
    .map((parts) => compose(parts.draft, parts));
}

function compose(
  draft: Draft,
  how: {
    encoding: Encoding | null;
    oddHeaders: [string, string][];
    chunked: boolean;
    cuts: number[];
    byByte: boolean;
  },
): AnswerCase {
  const sent = how.encoding === null ? draft.sent : encoders[how.encoding](draft.sent);
  // A compressed stream cannot be taken apart, so it passes whole.
  const expected = draft.kind === 'stream' && how.encoding === null ? draft.expectedPlain : sent;
  const headers: string[] = how.oddHeaders.flat();
  if (draft.contentType !== null) headers.push('content-type', draft.contentType);
  if (how.encoding !== null) headers.push('Content-Encoding', how.encoding);
  if (!how.chunked) headers.push('Content-Length', String(sent.length));
  const { kind, status } = draft;
  return {
    kind,
    status,
    headers,
    pieces: cut(sent, how.byByte && sent.length < 1_500 ? null : how.cuts),
    expected,
  };
}

/** At the given places, or between all bytes. */
function cut(bytes: Buffer, places: readonly number[] | null): Buffer[] {
  const at =
    places === null
      ? Array.from({ length: bytes.length }, (_, index) => index)
      : places.map((place) => Math.floor(place * bytes.length)).sort((a, b) => a - b);
  const pieces: Buffer[] = [];
  let start = 0;
  for (const place of [...at, bytes.length]) {
    if (place > start) pieces.push(bytes.subarray(start, place));
    start = Math.max(start, place);
  }
  return pieces;
}
