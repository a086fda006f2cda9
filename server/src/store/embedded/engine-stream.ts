import { Duplex } from 'node:stream';
import type { Engine } from './engine.ts';

const QUERY = 'Q'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);

/** No authentication is needed, and the session is ready for a query. */
const WELCOME = Buffer.from([
  ...['R'.charCodeAt(0), 0, 0, 0, 8, 0, 0, 0, 0],
  ...['Z'.charCodeAt(0), 0, 0, 0, 5, 'I'.charCodeAt(0)],
]);

export interface EngineStreamOptions {
  readonly engine: Engine;
  /** Resets the session to the state of a new connection. */
  prepare(): Promise<void>;
}

/**
 * The engine as the socket of a driver's connection, so that the same driver writes parameters, reads values and creates
 * errors as with a server. Messages go to the engine as soon as they end in one that PostgreSQL answers.
 */
export class EngineStream extends Duplex {
  readonly #engine: Engine;
  readonly #prepare: () => Promise<void>;
  #received: Buffer = Buffer.alloc(0);
  #started = false;
  #running = false;

  constructor(options: EngineStreamOptions) {
    super();
    this.#engine = options.engine;
    this.#prepare = options.prepare;
  }

  // The part of a socket that the driver needs.
  connect(): this {
    this.#engine.start().then(
      () => this.emit('connect'),
      (error: Error) => this.destroy(error),
    );
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {
    // Answers are pushed when they arrive; the driver reads all of them.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    this.#runWhole().then(() => done(), done);
  }

  /** The driver closed the connection; a statement that still runs would block all others. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#running) this.#engine.interrupt('a statement exceeded its time limit');
    done(error);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.push(null);
    done();
  }

  async #runWhole(): Promise<void> {
    if (!this.#started) {
      // The first message has no type; it names the user, who is always the same.
      if (this.#received.length < 4 || this.#received.length < this.#received.readUInt32BE(0)) return;
      this.#received = this.#received.subarray(this.#received.readUInt32BE(0));
      await this.#prepare();
      this.#started = true;
      this.push(WELCOME);
    }
    const length = answeredLength(this.#received);
    if (length === 0) return;
    const message = new Uint8Array(this.#received.subarray(0, length));
    this.#received = this.#received.subarray(length);
    this.#running = true;
    try {
      this.push(await this.#engine.run(message));
    } finally {
      this.#running = false;
    }
  }
}

/** The length of the bytes up to the last message that PostgreSQL answers. */
function answeredLength(bytes: Buffer): number {
  let answered = 0;
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) break;
    const type = bytes[at];
    if (type === QUERY || type === SYNC) answered = end;
    if (type === TERMINATE) break;
    at = end;
  }
  return answered;
}
