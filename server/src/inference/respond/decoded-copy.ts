import { type DecodingStream, decodingStream, expandedBytesMax } from './decode-answer.ts';

/** From this many compressed bytes that wait to be decoded, the provider waits too. */
const WAITING_BYTES_MAX = 1024 * 1024;

/**
 * Decodes a copy of an encoded answer while its bytes pass, even if the answer is cut. Stops reading an answer that expands too much.
 */
export class DecodedCopy {
  readonly #take: (chunk: Buffer) => void;
  readonly #ended: Promise<void>;
  #endReading: () => void = () => undefined;
  /** Null: the encoding is unknown, or reading has stopped. */
  #decoder: DecodingStream | null;
  #decodedBytes = 0;

  constructor(encoding: string, take: (chunk: Buffer) => void) {
    this.#take = take;
    const decoder = decodingStream(encoding);
    this.#decoder = decoder;
    this.#ended = new Promise((resolve) => {
      this.#endReading = resolve;
    });
    if (decoder === null) this.#endReading();
    decoder?.on('data', (chunk: Buffer) => this.#read(chunk));
    decoder?.on('end', () => this.#endReading());
    decoder?.on('error', () => this.#endReading());
  }

  /** False if the copy misses bytes that arrived. */
  get isReadable(): boolean {
    return this.#decoder !== null;
  }

  /** Resolves when there is room for more; undefined where there is. */
  push(chunk: Buffer): Promise<unknown> | undefined {
    const decoder = this.#decoder;
    if (decoder === null || decoder.write(chunk) || decoder.writableLength <= WAITING_BYTES_MAX)
      return undefined;
    return Promise.race([this.#ended, new Promise((resolve) => decoder.once('drain', resolve))]);
  }

  /** Resolves when all bytes that arrived are decoded. May be called again. */
  async end(): Promise<void> {
    if (this.#decoder?.writableEnded === false) this.#decoder.end();
    await this.#ended;
  }

  #read(chunk: Buffer): void {
    if (this.#decoder === null) return;
    this.#decodedBytes += chunk.length;
    // Compare with the compressed bytes that were decoded, not with the waiting bytes, so that a bomb is found in its first bytes.
    if (this.#decodedBytes > expandedBytesMax(this.#decoder.bytesWritten)) this.#giveUp();
    else this.#take(chunk);
  }

  #giveUp(): void {
    this.#decoder?.destroy();
    this.#decoder = null;
    this.#endReading();
  }
}
