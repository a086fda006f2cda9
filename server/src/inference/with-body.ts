import { writeJson } from '../kit/json-source.ts';
import type { UpstreamAnswer } from './exchange.ts';

/** The answer with another body, without the headers that describe the original bytes. */
export function withBody(answer: UpstreamAnswer, said: unknown): UpstreamAnswer {
  const type = answer.headers['content-type'];
  const isJson = typeof type === 'string' && type.toLowerCase().startsWith('application/json');
  return withBytes(answer, isJson ? type : 'application/json', Buffer.from(writeJson(said)));
}

/** The same for a body of events. */
export function asEventStream(answer: UpstreamAnswer, frames: Buffer): UpstreamAnswer {
  return withBytes(answer, 'text/event-stream; charset=utf-8', frames);
}

function withBytes(answer: UpstreamAnswer, type: string, body: Buffer): UpstreamAnswer {
  const {
    'content-type': _type,
    'content-length': _length,
    'content-encoding': _encoding,
    'content-md5': _md5,
    'content-digest': _digest,
    digest: _oldDigest,
    etag: _tag,
    ...rest
  } = answer.headers;
  return { status: answer.status, headers: { 'content-type': type, ...rest }, body };
}
