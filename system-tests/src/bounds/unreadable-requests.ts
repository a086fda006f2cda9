// Bytes that no parser should take for a request.

/** Writes the head of a request that would be all right. */
export type Head = (path: string, fields: Readonly<Record<string, string>>, method?: string) => string;

const CHAT = '/v1/chat/completions';
const body = '{"model":"bounds-lane","messages":[{"role":"user","content":"Hello."}]}';
const length = String(body.length);

/** A good request with one more line in its head. */
function line(text: string): (head: Head) => string {
  return (head) => head(CHAT, {}).replace('\r\n\r\n', `\r\n${text}\r\n\r\n${body}`);
}

/** What they are, their bytes, and the status they get. */
export const unreadableRequests: readonly [string, (head: Head) => string | Buffer, number][] = [
  ['two lengths that differ', line(`content-length: ${length}\r\ncontent-length: 5`), 400],
  ['two lengths that agree', line(`content-length: ${length}\r\ncontent-length: ${length}`), 400],
  ['a list of lengths', line(`content-length: ${length}, ${length}`), 400],
  ['a negative length', line('content-length: -5'), 400],
  ['a length with a sign', line('content-length: +5'), 400],
  ['a length in hexadecimal', line('content-length: 0x10'), 400],
  ['a length and chunks', line(`content-length: ${length}\r\ntransfer-encoding: chunked`), 400],
  ['an encoding that is not known', line('transfer-encoding: xchunked'), 400],
  ['chunks that are not last', line('transfer-encoding: chunked, identity'), 400],
  ['a chunk of no size', (head) => `${head(CHAT, { 'transfer-encoding': 'chunked' })}zz\r\n`, 400],
  [
    'a chunk of endless extensions',
    (head) => `${head(CHAT, { 'transfer-encoding': 'chunked' })}5;${'a=b;'.repeat(10_000)}\r\n`,
    413,
  ],
  ['a name with a space', line('x odd: 1'), 400],
  ['a folded header', line('x-odd: 1\r\n continued'), 400],
  ['a NUL in a header', line('x-odd: a\0b'), 400],
  ['no host', () => `POST ${CHAT} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`, 400],
  ['a method of one’s own', (head) => head(CHAT, {}, 'FROBNICATE'), 400],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a TLS greeting', () => Buffer.from('16030100c8010000c40303', 'hex'), 400],
  ['noise', () => Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 97) % 256)), 400],
  ['a header section of 20 KiB', (head) => head(CHAT, { 'x-large': 'x'.repeat(20 * 1024) }), 431],
  ['a header section of 5 MiB', (head) => head(CHAT, { 'x-large': 'x'.repeat(5 * 1024 * 1024) }), 431],
  ['a request line of 100 KiB', (head) => head(`/v1/${'x'.repeat(100 * 1024)}`, {}), 431],
];
