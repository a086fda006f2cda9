import type { IncomingMessage, ServerResponse } from 'node:http';
import { sizeWords } from '@relay/contract/words';
import { RelayError } from '../domain/relay-error.ts';
import type { BodyMemory } from './body-memory.ts';
import type { BodyPace } from './body-pace.ts';
import { ClientGoneError } from './client-gone-error.ts';

/**
 * From here on the chunks of a body are copied as they arrive. Joining 20 MB at the end would block the event loop for many
 * milliseconds. A client that only announces a large body gets no memory for it.
 */
const COPIED_FROM_BYTES = 512 * 1024;
/** From here on a body counts against its organization's share of memory. Most requests are smaller, and wait for nothing. */
const COUNTED_FROM_BYTES = 64 * 1024;
/**
 * What a body without a declared length gets when it no longer fits: four times as much, and from 1 MiB on this much more. A large body
 * is then copied once, when it is still small.
 */
const GROWTH = 4;
const GROWN_BYTES = 1024 * 1024;
const MORE_BYTES = 24 * 1024 * 1024;

export interface BodyBounds {
  readonly bodyBytesMax: number;
  readonly bodyMemory: BodyMemory;
  /** Null where there is one organization, which need not share. */
  readonly bodyPace: BodyPace | null;
}

/**
 * Reads the complete body, or rejects with 413 as soon as it is known to be too large: by Content-Length before a byte is
 * read, otherwise at the first byte over the limit. A large body waits for memory before it is read, and rejects with 429 when
 * its organization has its share.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  bounds: BodyBounds,
  organizationId: string,
): Promise<Buffer> {
  const { bodyBytesMax: bytesMax, bodyMemory } = bounds;
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > bytesMax) return Promise.reject(tooLarge(bytesMax));
  // A client that disconnected while its key was looked up emits no further event.
  if (request.destroyed) return Promise.reject(new ClientGoneError());
  const begin = () => receive(request, response, bounds, organizationId, declared);
  if (declared <= COUNTED_FROM_BYTES) return begin();
  return bodyMemory.reserve(organizationId, declared, response).then(begin);
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  bounds: BodyBounds,
  organizationId: string,
  declared: number,
): Promise<Buffer> {
  if (request.destroyed) return Promise.reject(new ClientGoneError());
  // The client waits for 100 Continue before it sends the body.
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
  const { bodyBytesMax, bodyMemory, bodyPace } = bounds;
  const reserve = (bytes: number) => bodyMemory.reserveNow(organizationId, bytes, response);
  const received = new ReceivedBytes(declared, bodyBytesMax, reserve);

  return new Promise((resolve, reject) => {
    let pause: NodeJS.Timeout | undefined;
    function stop(): void {
      clearTimeout(pause);
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('close', onClose);
      request.off('error', onClose);
    }
    function onData(chunk: Buffer): void {
      try {
        received.add(chunk);
        if (received.isLarge) pauseAfter(chunk.length);
      } catch (error) {
        stop();
        request.pause();
        reject(error);
      }
    }
    function pauseAfter(bytes: number): void {
      const pauseMs = bodyPace?.pauseMs(organizationId, bytes) ?? 0;
      if (pauseMs < 1) return;
      request.pause();
      pause = setTimeout(() => request.resume(), pauseMs);
    }
    function onEnd(): void {
      stop();
      resolve(received.whole());
    }
    function onClose(): void {
      stop();
      reject(new ClientGoneError());
    }
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onClose);
    request.on('error', onClose);
  });
}

/** A body as it arrives: its chunks while it is small, then one piece of memory that they are copied into. */
class ReceivedBytes {
  readonly #bytesMax: number;
  readonly #reserve: (bytes: number) => void;
  /** What is counted for this body, or need not be counted. */
  #capacityBytes: number;
  #bytes = 0;
  #chunks: Buffer[] = [];
  #copied: Buffer | null = null;

  constructor(declared: number, bytesMax: number, reserve: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#reserve = reserve;
    this.#capacityBytes = Math.max(declared, COUNTED_FROM_BYTES);
  }

  get isLarge(): boolean {
    return this.#bytes > COUNTED_FROM_BYTES;
  }

  /** Throws 413 or 429. */
  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) throw tooLarge(this.#bytesMax);
    if (this.#bytes > this.#capacityBytes) this.#grow();
    if (this.#bytes >= COPIED_FROM_BYTES) this.#copy(chunk);
    else this.#chunks.push(chunk);
  }

  whole(): Buffer {
    if (this.#copied !== null) return this.#copied.subarray(0, this.#bytes);
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    return only ?? Buffer.concat(this.#chunks, this.#bytes);
  }

  #grow(): void {
    const grown = this.#bytes < GROWN_BYTES ? this.#bytes * GROWTH : this.#bytes + MORE_BYTES;
    const wanted = Math.min(this.#bytesMax, grown);
    this.#reserve(wanted - this.#capacityBytes);
    this.#capacityBytes = wanted;
  }

  #copy(chunk: Buffer): void {
    let into = this.#copied;
    if (into === null || into.length < this.#bytes) {
      into = Buffer.allocUnsafeSlow(this.#capacityBytes);
      let at = this.#copied?.copy(into) ?? 0;
      for (const each of this.#chunks) at += each.copy(into, at);
      this.#chunks = [];
      this.#copied = into;
    }
    chunk.copy(into, this.#bytes - chunk.length);
  }
}

function tooLarge(bytesMax: number): RelayError {
  return new RelayError('body_too_large', {
    message: `The request body is larger than ${sizeWords(bytesMax)}. Send a smaller body, or ask the operator to raise RELAY_MAX_BODY_BYTES.`,
    fields: { limit_bytes: bytesMax },
  });
}
