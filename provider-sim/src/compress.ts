import {
  brotliCompressSync,
  createBrotliCompress,
  createDeflate,
  createGzip,
  deflateSync,
  gzipSync,
} from 'node:zlib';
import type { Encoding } from './fault.ts';

const wholeEncoders: Record<Encoding, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
};

export function compressWhole(bytes: Buffer, encoding: Encoding | undefined): Buffer {
  return encoding === undefined ? bytes : wholeEncoders[encoding](bytes);
}

/** Compresses frame by frame, each flushed so that a reader can decode it before the next one comes. */
export interface FrameCompressor {
  push(bytes: Buffer): Promise<Buffer>;
  finish(bytes: Buffer): Promise<Buffer>;
}

export function createFrameCompressor(encoding: Encoding): FrameCompressor {
  const streams = { gzip: createGzip, br: createBrotliCompress, deflate: createDeflate };
  const stream = streams[encoding]();
  const made: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => made.push(chunk));
  return {
    push(bytes) {
      return new Promise((resolve) => {
        stream.write(bytes);
        stream.flush(() => resolve(Buffer.concat(made.splice(0))));
      });
    },
    finish(bytes) {
      return new Promise((resolve) => {
        stream.once('end', () => resolve(Buffer.concat(made.splice(0))));
        stream.end(bytes);
      });
    },
  };
}
