import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
  type ZlibOptions,
} from 'node:zlib';
import type { UpstreamAnswer } from '../exchange.ts';

/** A few compressed bytes can stand for gigabytes. Relay holds a decoded copy up to these bounds; the client gets the original. */
const DECODED_BYTES_MAX = 8 * 1024 * 1024;
const EXPANSION_MAX = 20;
/** Up to this size the expansion does not matter. */
const SMALL_BYTES = 64 * 1024;
/** Larger than zlib's own, because each piece takes a turn of the event loop. */
const PIECE_BYTES = 128 * 1024;

/** `bytesWritten`: how many bytes it has decoded. */
export type DecodingStream = Transform & { readonly bytesWritten: number };

interface Decoder {
  readonly whole: (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;
  readonly stream: () => DecodingStream;
}

/** Keeps the bytes that were decoded before a missing end. */
const WITHOUT_END: ZlibOptions = { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: PIECE_BYTES };
const GZIP: Decoder = { whole: promisify(gunzip), stream: () => createGunzip(WITHOUT_END) };
const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: { whole: promisify(inflate), stream: () => createInflate(WITHOUT_END) },
  br: {
    whole: promisify(brotliDecompress),
    stream: () =>
      createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH, chunkSize: PIECE_BYTES }),
  },
};

/** The most bytes that Relay decodes from so many compressed bytes while they pass. */
export function expandedBytesMax(encodedBytes: number): number {
  return Math.max(SMALL_BYTES, encodedBytes * EXPANSION_MAX);
}

/** The most decoded bytes that Relay holds. */
function decodedBytesMax(encodedBytes: number): number {
  return Math.min(DECODED_BYTES_MAX, expandedBytesMax(encodedBytes));
}

/** Whether decoding takes next to nothing, whatever the bytes are. */
export function isSmall(encodedBytes: number): boolean {
  return decodedBytesMax(encodedBytes) <= SMALL_BYTES;
}

/** Null when Relay does not know the encoding. */
export function decodingStream(encoding: string): DecodingStream | null {
  return decoderOf(encoding)?.stream() ?? null;
}

export async function decode(
  bytes: Buffer,
  encoding: string,
): Promise<Buffer | 'unknown_encoding' | 'too_large' | 'broken'> {
  const decoder = decoderOf(encoding);
  if (decoder === undefined) return 'unknown_encoding';
  try {
    const maxOutputLength = decodedBytesMax(bytes.length);
    return await decoder.whole(bytes, { maxOutputLength, chunkSize: PIECE_BYTES });
  } catch (error) {
    const isTooLarge =
      error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? 'too_large' : 'broken';
  }
}

/** A complete answer without its encoding; null when Relay does not know the encoding, or decodes no more of it. */
export async function decodeAnswer({ headers, body }: UpstreamAnswer): Promise<Buffer | null> {
  const encoding = String(headers['content-encoding'] ?? 'identity');
  if (encoding.trim().toLowerCase() === 'identity' || encoding === '') return body;
  const decoded = await decode(body, encoding);
  return Buffer.isBuffer(decoded) ? decoded : null;
}

function decoderOf(encoding: string): Decoder | undefined {
  return DECODERS[encoding.trim().toLowerCase()];
}
