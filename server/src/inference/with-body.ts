import type { UpstreamAnswer } from './exchange.ts';

/** The answer with another body, without the headers that describe the original bytes. */
export function withBody(answer: UpstreamAnswer, said: unknown): UpstreamAnswer {
  const {
    'content-length': _length,
    'content-encoding': _encoding,
    'content-md5': _md5,
    'content-digest': _digest,
    digest: _oldDigest,
    etag: _tag,
    ...headers
  } = answer.headers;
  return { status: answer.status, headers, body: Buffer.from(JSON.stringify(said)) };
}
