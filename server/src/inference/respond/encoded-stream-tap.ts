import type { Usage } from '../../domain/money/usage.ts';
import type { StreamRules } from '../../protocols/protocol.ts';
import { type DecodingStream, decodedBytesMax, decodingStream } from './decode-answer.ts';
import { StreamReader } from './stream-reader.ts';

/** Compressed bytes that wait to be decoded. */
const WAITING_BYTES_MAX = 1024 * 1024;

/**
 * Reads usage and the end of a compressed stream from a decoded copy. The client gets the original bytes. A stream that expands too
 * much, or arrives faster than it is decoded, is read no further.
 */
export class EncodedStreamTap {
  readonly #reader: StreamReader;
  readonly #ended: Promise<void>;
  #endReading: () => void = () => undefined;
  /** Null when the encoding is unknown, or the stream is read no further. */
  #decoder: DecodingStream | null;
  #decodedBytes = 0;

  constructor(encoding: string, rules: StreamRules) {
    this.#reader = new StreamReader(rules, false);
    const decoder = decodingStream(encoding);
    this.#decoder = decoder;
    this.#ended = new Promise((resolve) => {
      this.#endReading = resolve;
    });
    decoder?.on('data', (chunk: Buffer) => this.#read(chunk));
    decoder?.on('end', () => this.#endReading());
    decoder?.on('error', () => this.#endReading());
  }

  push(chunk: Buffer): void {
    if (this.#decoder === null) return;
    this.#decoder.write(chunk);
    if (this.#decoder.writableLength > WAITING_BYTES_MAX) this.#giveUp();
  }

  /** A stream that Relay cannot read to its end counts as complete. */
  async end(): Promise<{ done: boolean; usage: Usage | null }> {
    this.#decoder?.end();
    if (this.#decoder !== null) await this.#ended;
    // It may have been given up meanwhile.
    if (this.#decoder === null) return { done: true, usage: null };
    this.#reader.end();
    return { done: this.#reader.done, usage: this.#reader.usage };
  }

  #read(chunk: Buffer): void {
    if (this.#decoder === null) return;
    this.#decodedBytes += chunk.length;
    // By the bytes it was decoded from, not by those that wait: a bomb shows itself in its first bytes.
    if (this.#decodedBytes > decodedBytesMax(this.#decoder.bytesWritten)) this.#giveUp();
    else this.#reader.push(chunk);
  }

  #giveUp(): void {
    this.#decoder?.destroy();
    this.#decoder = null;
    this.#endReading();
  }
}
