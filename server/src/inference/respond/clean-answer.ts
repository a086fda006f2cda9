import { isUtf8 } from 'node:buffer';
import { passableText } from '../../domain/upstream-text.ts';
import type { UpstreamAnswer, UpstreamHead } from '../exchange.ts';
import { decodeAnswer } from './decode-answer.ts';

/** The same bytes, unless they quote the credential that was sent or show a part of it. */
export function withoutCredential(bytes: Buffer, secret: string | null): Buffer {
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  const text = bytes.toString(encoding);
  const shown = passableText(text, secret);
  return shown === text ? bytes : Buffer.from(shown, encoding);
}

/**
 * A provider's error as the client may see it: byte for byte, unless it contains the credential. Null when its encoding is
 * unknown and its content cannot be checked.
 */
export async function cleanAnswer(
  answer: UpstreamAnswer,
  secret: string | null,
): Promise<UpstreamAnswer | null> {
  if (secret === null || answer.body.length === 0) return answer;
  const decoded = await decodeAnswer(answer);
  if (decoded === null) return null;
  const body = withoutCredential(decoded, secret);
  const head = { status: answer.status, headers: withoutQuotes(answer, secret) };
  if (body === decoded) return { ...head, body: answer.body };
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = head.headers;
  return { status: answer.status, headers, body };
}

function withoutQuotes({ headers }: UpstreamHead, secret: string): UpstreamHead['headers'] {
  const quotes = (value: string | string[] | undefined) =>
    value !== undefined && [value].flat().some((each) => passableText(each, secret) !== each);
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => !quotes(value)));
}
