import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Usage } from '../../domain/money/usage.ts';
import type { StreamRules } from '../../protocols/protocol.ts';
import { StreamReader } from './stream-reader.ts';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Reads usage and the end of a compressed stream from a decoded copy. The client gets the original bytes. */
export class EncodedStreamTap {
  readonly #reader: StreamReader;
  readonly #decoder: Transform | null;
  readonly #ended: Promise<void>;

  constructor(encoding: string, rules: StreamRules) {
    this.#reader = new StreamReader(rules, false);
    this.#decoder = decoders[encoding.trim().toLowerCase()]?.() ?? null;
    const decoder = this.#decoder;
    this.#ended = new Promise((resolve) => {
      if (decoder === null) return resolve();
      decoder.on('data', (chunk: Buffer) => this.#reader.push(chunk));
      decoder.on('end', resolve);
      decoder.on('error', () => resolve());
    });
  }

  push(chunk: Buffer): void {
    this.#decoder?.write(chunk);
  }

  /** A stream in an encoding that Relay does not know counts as complete. */
  async end(): Promise<{ done: boolean; usage: Usage | null }> {
    if (this.#decoder === null) return { done: true, usage: null };
    this.#decoder.end();
    await this.#ended;
    this.#reader.end();
    return { done: this.#reader.done, usage: this.#reader.usage };
  }
}
