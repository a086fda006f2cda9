import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Random } from '../chaos/random.ts';
import { bodyOf, mutatedBytes, mutatedText, NASTY_TEXTS } from './mutate.ts';

export interface RawAnswer {
  readonly pieces: readonly Buffer[];
  /** `keep`: the connection stays open, and the provider falls silent if it has said too little. */
  readonly ending: 'keep' | 'close' | 'reset';
}

const USAGES: readonly unknown[] = [
  { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  { prompt_tokens: -3, completion_tokens: 1.5 },
  { prompt_tokens: 2 ** 53 - 1, completion_tokens: 2 ** 53 - 1 },
  { prompt_tokens: '3', completion_tokens: null },
  { input_tokens: 1e300, output_tokens: [] },
  null,
  'many',
];

const STATUS_LINES: readonly string[] = [
  ...[
    'HTTP/1.1 201 Created',
    'HTTP/1.1 204 No Content',
    'HTTP/1.1 206 Partial',
    'HTTP/1.1 301 Moved',
    'HTTP/1.1 304 Not',
  ],
  ...[
    'HTTP/1.1 400 Bad',
    'HTTP/1.1 401 No',
    'HTTP/1.1 404 No',
    'HTTP/1.1 418 Tea',
    'HTTP/1.1 500 Oh',
    'HTTP/1.1 502 ',
  ],
  ...[
    'HTTP/1.1 599 x',
    'HTTP/1.1 600 x',
    'HTTP/1.1 999 x',
    'HTTP/1.1 099 x',
    'HTTP/1.1 20 x',
    'HTTP/1.1 200',
    'HTTP/1.0 200 OK',
  ],
  ...[
    'HTTP/2.0 200 OK',
    'HTTP/1.1  200 OK',
    'http/1.1 200 OK',
    'ICY 200 OK',
    '<html>',
    '\0\0',
    'HTTP/1.1 100 Continue',
    'HTTP/1.1 101 Up',
  ],
];

const HEADER_LINES: readonly string[] = [
  ...[
    'content-length: -1',
    'content-length: 99999999999999999999',
    'content-length: 5, 5',
    'transfer-encoding: gzip, chunked',
  ],
  ...[
    'transfer-encoding: xchunked',
    'Content-Type: text/event-stream; charset=utf-16',
    'no colon',
    ' folded: x',
    ': empty',
  ],
  ...[
    'set-cookie: a=b',
    'x-relay-context: a',
    'x-request-id: theirs',
    'connection: upgrade',
    'upgrade: h2c',
    'retry-after: 0',
  ],
  ...[
    'retry-after: soon',
    'x-ratelimit-remaining-requests: -5',
    'content-encoding: br',
    'content-encoding: gzip, gzip',
  ],
  ...[
    'content-encoding: zstd',
    `x: ${'y'.repeat(20_000)}`,
    'x-\u00e9: \u00e9',
    'trailer: x',
    'content-type:',
    'link: <a>; rel=b',
  ],
];

/** A provider's answer that is sound, nearly sound or nothing like an answer, and the places where the network cuts it. */
export function rawAnswer(random: Random): RawAnswer {
  const bytes = random.chance(0.03) ? noise(random) : message(random);
  const kept = random.chance(0.15) ? bytes.subarray(0, random.between(0, bytes.length)) : bytes;
  const isWhole = kept.length === bytes.length;
  return {
    pieces: cut(random.chance(0.05) ? mutatedBytes(kept, random) : kept, random),
    // A provider that falls silent keeps its client until a timeout, so a cut answer ends.
    ending: random.chance(0.1) ? 'reset' : isWhole && random.chance(0.3) ? 'keep' : 'close',
  };
}

function noise(random: Random): Buffer {
  return Buffer.from(Array.from({ length: random.between(0, 400) }, () => random.between(0, 255)));
}

function message(random: Random): Buffer {
  const isStream = random.chance(0.5);
  const encoding = random.chance(0.1) ? random.pick(['gzip', 'br', 'deflate']) : null;
  const plain = isStream ? eventStream(random) : wholeBody(random);
  const body = encoding === 'gzip' ? gzipSync(plain) : encoding === 'br' ? brotliCompressSync(plain) : plain;
  const isChunked = random.chance(isStream ? 0.9 : 0.2);
  const lines = [
    random.chance(0.12) ? random.pick(STATUS_LINES) : 'HTTP/1.1 200 OK',
    `content-type: ${isStream ? 'text/event-stream' : 'application/json'}`,
    ...(encoding === null ? [] : [`content-encoding: ${encoding}`]),
    isChunked
      ? 'transfer-encoding: chunked'
      : `content-length: ${body.length + (random.chance(0.05) ? random.between(-9, 9) : 0)}`,
    ...(random.chance(0.15) ? [random.pick(HEADER_LINES)] : []),
  ];
  const head = Buffer.from(`${lines.join(random.chance(0.02) ? '\n' : '\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, isChunked ? chunked(body, random) : body]);
}

function wholeBody(random: Random): Buffer {
  return bodyOf(
    {
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
      ...(random.chance(0.8) ? { usage: random.pick(USAGES) } : {}),
    },
    random,
  );
}

function eventStream(random: Random): Buffer {
  const end = random.pick(['\n', '\n', '\r\n', '\r']);
  const frames = Array.from({ length: random.between(0, 12) }, () => frameOf(random, end));
  if (random.chance(0.6))
    frames.push(`data: ${JSON.stringify({ choices: [], usage: random.pick(USAGES) })}${end}${end}`);
  if (random.chance(0.7)) frames.push(`data: [DONE]${end}${end}`);
  const bytes = Buffer.from(frames.join(''));
  return random.chance(0.1) ? mutatedBytes(bytes, random) : bytes;
}

function frameOf(random: Random, end: string): string {
  const delta = JSON.stringify({
    choices: [
      { index: 0, delta: { content: random.pick(['hi', 'word '.repeat(400), random.pick(NASTY_TEXTS)]) } },
    ],
  });
  return random.pick([
    `data: ${delta}${end}${end}`,
    `data: ${delta}${end}${end}`,
    `data: ${delta}${end}${end}`,
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant' } }] })}${end}${end}`,
    `data: ${mutatedText(delta, random)}${end}${end}`,
    `: comment${end}${end}`,
    `event: response.output_text.delta${end}data: {"type":"response.output_text.delta","delta":"x"}${end}${end}`,
    `event: error${end}data: {"error":{"message":"no"}}${end}${end}`,
    `data: {"error":{"message":"overloaded","type":"server_error"}}${end}${end}`,
    `data${end}id: 1${end}retry: 5${end}${end}`,
    `${end}${end}`,
  ]);
}

function chunked(body: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + random.between(1, 600));
    parts.push(
      Buffer.from(`${piece.length.toString(16)}${random.chance(0.02) ? ';x=y' : ''}\r\n`),
      piece,
      Buffer.from('\r\n'),
    );
    at += piece.length;
  }
  const last = random.chance(0.05)
    ? random.pick(['', '0\r\n', 'ffffffffff\r\nx', '0\r\ntrailer: x\r\n\r\n', '-1\r\n\r\n'])
    : '0\r\n\r\n';
  return Buffer.concat([...parts, Buffer.from(last)]);
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const places = Array.from({ length: random.between(0, 6) }, () => random.between(0, bytes.length)).sort(
    (a, b) => a - b,
  );
  return [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end));
}
