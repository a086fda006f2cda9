import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { AnswerReading, AnswerRules } from '../../protocols/protocol.ts';
import type { UpstreamAnswer } from '../exchange.ts';

const DECODED_BYTES_MAX = 64 * 1024 * 1024;

const decoders: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: (bytes) => promisify(gunzip)(bytes, { maxOutputLength: DECODED_BYTES_MAX }),
  'x-gzip': (bytes) => promisify(gunzip)(bytes, { maxOutputLength: DECODED_BYTES_MAX }),
  deflate: (bytes) => promisify(inflate)(bytes, { maxOutputLength: DECODED_BYTES_MAX }),
  br: (bytes) => promisify(brotliDecompress)(bytes, { maxOutputLength: DECODED_BYTES_MAX }),
};

/** Relay cannot judge an encoding that it does not know, so such an answer counts as sound. */
export async function readEncodedAnswer(
  rules: AnswerRules,
  body: Buffer,
  encoding: string,
): Promise<AnswerReading> {
  const decode = decoders[encoding.trim().toLowerCase()];
  if (decode === undefined) return { sound: true, usage: null };
  try {
    return rules.read(await decode(body));
  } catch {
    return { sound: false, usage: null };
  }
}

/** A complete answer without its encoding; null when Relay does not know the encoding. */
export async function decodeAnswer({ headers, body }: UpstreamAnswer): Promise<Buffer | null> {
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (encoding === 'identity' || encoding === '') return body;
  return (await decoders[encoding]?.(body).catch(() => null)) ?? null;
}
