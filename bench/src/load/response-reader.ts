type State = 'head' | 'length' | 'chunk_size' | 'chunk' | 'chunk_end' | 'done';

const HEAD_BYTES_MAX = 64 * 1_024;
const NEWLINE = 0x0a;

/**
 * Follows HTTP/1.1 responses on one connection closely enough to know when each is over, how it went and how
 * many frames it carried. It does no more than that, because the load shares its core with the upstream.
 */
export class ResponseReader {
  status = 0;
  frames = 0;
  bodyBytes = 0;
  #state: State = 'head';
  #kept: Buffer | null = null;
  #remainingBytes = 0;
  #sizeText = '';
  #lastByte = 0;
  #last = false;

  /** The last response is over and the next has not begun. */
  get complete(): boolean {
    return this.#state === 'done';
  }

  /** True when the response is complete; the next call then starts the next one. */
  push(given: Buffer): boolean {
    if (this.#state === 'done') this.#reset();
    const chunk = this.#kept === null ? given : Buffer.concat([this.#kept, given]);
    this.#kept = null;
    let at = 0;
    // Every turn either consumes bytes or changes the state, so the chunk's length bounds the loop.
    while (at < chunk.length && this.#state !== 'done') {
      if (this.#state === 'head') at = this.#readHead(chunk);
      else if (this.#state === 'length' || this.#state === 'chunk') at = this.#readBody(chunk, at);
      else if (this.#state === 'chunk_size') at = this.#readChunkSize(chunk, at);
      else at = this.#skipChunkEnd(chunk, at);
    }
    return this.#state === 'done';
  }

  #reset(): void {
    this.#state = 'head';
    this.status = 0;
    this.frames = 0;
    this.bodyBytes = 0;
    this.#last = false;
  }

  #readHead(chunk: Buffer): number {
    const end = chunk.indexOf('\r\n\r\n');
    if (end < 0) {
      if (chunk.length > HEAD_BYTES_MAX) throw new Error('the head of the response does not end');
      this.#kept = chunk;
      return chunk.length;
    }
    const head = chunk.toString('latin1', 0, end);
    this.status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) this.#expect('length', Number(length));
    else if (/\r\ntransfer-encoding: *chunked/i.test(head)) this.#startChunk();
    else throw new Error(`a response without a length:\n${head}`);
    return end + 4;
  }

  #expect(state: 'length' | 'chunk', bytes: number): void {
    this.#state = bytes === 0 && state === 'length' ? 'done' : state;
    this.#remainingBytes = bytes;
  }

  #startChunk(): void {
    this.#state = 'chunk_size';
    this.#sizeText = '';
  }

  #readBody(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#remainingBytes);
    this.#remainingBytes -= end - at;
    this.bodyBytes += end - at;
    if (this.#state === 'chunk') this.#countFrames(chunk, at, end);
    if (this.#remainingBytes === 0) {
      this.#state = this.#state === 'length' ? 'done' : 'chunk_end';
      this.#sizeText = '';
    }
    return end;
  }

  /** A frame ends with an empty line, which may fall between two pieces. */
  #countFrames(chunk: Buffer, from: number, to: number): void {
    if (this.#lastByte === NEWLINE && chunk[from] === NEWLINE) this.frames += 1;
    this.#lastByte = chunk[to - 1] ?? 0;
    let at = chunk.indexOf('\n\n', from);
    while (at >= 0 && at + 2 <= to) {
      this.frames += 1;
      at = chunk.indexOf('\n\n', at + 2);
    }
    // An empty line that was counted whole is not half of another one.
    if (to - from >= 2 && chunk[to - 1] === NEWLINE && chunk[to - 2] === NEWLINE) this.#lastByte = 0;
  }

  #readChunkSize(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(NEWLINE, at);
    this.#sizeText += chunk.toString('latin1', at, end < 0 ? chunk.length : end);
    if (end < 0) return chunk.length;
    const bytes = Number.parseInt(this.#sizeText, 16);
    if (Number.isNaN(bytes)) throw new Error(`"${this.#sizeText}" is not the size of a chunk`);
    this.#sizeText = '';
    this.#last = bytes === 0;
    if (this.#last) this.#state = 'chunk_end';
    else this.#expect('chunk', bytes);
    return end + 1;
  }

  #skipChunkEnd(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(NEWLINE, at);
    if (end < 0) return chunk.length;
    if (this.#last) this.#state = 'done';
    else this.#startChunk();
    return end + 1;
  }
}
