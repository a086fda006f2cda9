import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { parseUsage, type Usage } from '../../domain/money/usage.ts';
import { scanObject } from '../../kit/json-members.ts';
import type { UpstreamAnswer } from '../exchange.ts';

const DECODED_BYTES_MAX = 64 * 1024 * 1024;
const DEPTH_MAX = 1_000;

const decoders: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: (bytes) => promisify(gunzip)(bytes, { maxOutputLength: DECODED_BYTES_MAX }),
  'x-gzip': (bytes) => promisify(gunzip)(bytes, { maxOutputLength: DECODED_BYTES_MAX }),
  deflate: (bytes) => promisify(inflate)(bytes, { maxOutputLength: DECODED_BYTES_MAX }),
  br: (bytes) => promisify(brotliDecompress)(bytes, { maxOutputLength: DECODED_BYTES_MAX }),
};

export interface AnswerReading {
  /** False when the body is not one whole JSON object: cut off, or something else altogether. */
  readonly sound: boolean;
  readonly usage: Usage | null;
}

/** Reads usage out of a whole answer; the bytes themselves are left alone. */
export function readAnswer(body: Buffer): AnswerReading {
  const text = body.toString('latin1');
  const spans = scanObject(text, DEPTH_MAX);
  if (typeof spans === 'string') return { sound: false, usage: null };
  const span = spans.members.findLast(({ name }) => name === 'usage');
  if (span === undefined) return { sound: true, usage: null };
  try {
    return { sound: true, usage: parseUsage(JSON.parse(text.slice(span.start, span.end))) };
  } catch {
    return { sound: false, usage: null };
  }
}

/** An encoding that cannot be decoded here is the client's to judge: sound as far as anyone can tell. */
export async function readEncodedAnswer(body: Buffer, encoding: string): Promise<AnswerReading> {
  const decode = decoders[encoding.trim().toLowerCase()];
  if (decode === undefined) return { sound: true, usage: null };
  try {
    return readAnswer(await decode(body));
  } catch {
    return { sound: false, usage: null };
  }
}

/** A whole answer without its encoding; null when it cannot be decoded here. */
export async function decodeAnswer({ headers, body }: UpstreamAnswer): Promise<Buffer | null> {
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (encoding === 'identity' || encoding === '') return body;
  return (await decoders[encoding]?.(body).catch(() => null)) ?? null;
}

/** Usage stands at the end of an answer that is too large to keep, so its last bytes are enough. */
export function readTailUsage(tail: Buffer): Usage | null {
  const found = /"usage"\s*:\s*(\{[^{}]*\})[^{}]*\}\s*$/.exec(tail.toString('latin1'))?.[1];
  if (found === undefined) return null;
  try {
    return parseUsage(JSON.parse(found));
  } catch {
    return null;
  }
}
