import type { ServerResponse } from 'node:http';

/** Up to this size bytes are cheaper to send as text, because Node joins texts into one write. */
const TEXT_BYTES_MAX = 4 * 1024;

/**
 * The body of a response whose length is not known. Node sends every chunk in four pieces: its length, a line break, the bytes, another
 * line break. Here a small chunk is one piece, which is a tenth of what a frame of a stream costs.
 */
export class BodyWriter {
  readonly #response: ServerResponse;
  /** False for a response with a length, and for a client that does not know chunks. */
  readonly #isChunked: boolean;

  /** Takes over when the head is written and before any of the body is. */
  constructor(response: ServerResponse) {
    this.#response = response;
    this.#isChunked = response.chunkedEncoding;
    // The head that announces chunks exists already; from here on Node passes on what it gets.
    response.chunkedEncoding = false;
  }

  /** Sends the head, which otherwise waits for the body. Node's `flushHeaders` would send a provider's bytes beyond ASCII as UTF-8. */
  flushHead(): void {
    this.#response.write('', 'latin1');
  }

  /** False when the client reads too slowly; the response then emits `drain`. */
  write(bytes: Buffer): boolean {
    // An empty chunk would end the body.
    if (bytes.length === 0) return true;
    if (!this.#isChunked) return this.#response.write(bytes);
    const size = bytes.length.toString(16);
    if (bytes.length <= TEXT_BYTES_MAX)
      return this.#response.write(`${size}\r\n${bytes.toString('latin1')}\r\n`, 'latin1');
    this.#response.write(`${size}\r\n`, 'latin1');
    this.#response.write(bytes);
    return this.#response.write('\r\n', 'latin1');
  }

  end(): void {
    if (this.#isChunked) this.#response.end('0\r\n\r\n', 'latin1');
    else this.#response.end();
  }
}

/** Sends a complete body, after the head was written with its length. */
export function endWith(response: ServerResponse, body: Buffer): void {
  if (body.length <= TEXT_BYTES_MAX) response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
}
