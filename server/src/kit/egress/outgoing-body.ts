import { Readable } from 'node:stream';

/** A body in one piece, or in several that follow each other. */
export type OutgoingBody = Buffer | readonly Buffer[];

/** From here on pieces are sent one after the other. To join 20 MB would block the event loop for many milliseconds. */
const UNJOINED_FROM_BYTES = 512 * 1024;

interface Outgoing {
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: OutgoingBody | null;
}

/** The same request as undici takes it. */
export function outgoing<Request extends Outgoing>(
  request: Request,
): Omit<Request, 'body'> & { body: Buffer | Readable | null } {
  const { body, headers } = request;
  if (body === null || Buffer.isBuffer(body)) return { ...request, body };
  const bytes = body.reduce((sum, { length }) => sum + length, 0);
  if (bytes < UNJOINED_FROM_BYTES) return { ...request, body: Buffer.concat(body, bytes) };
  // Without a length undici would send chunks, which not every provider accepts.
  return { ...request, headers: [...headers, 'content-length', String(bytes)], body: streamOf(body) };
}

/**
 * All pieces at the first read. A socket that gets a large piece in one write reads an early answer before it notices that the provider
 * has closed; further writes would fail first, and the answer would be lost.
 */
function streamOf(pieces: readonly Buffer[]): Readable {
  return new Readable({
    read() {
      for (const piece of pieces) if (piece.length > 0) this.push(piece);
      this.push(null);
    },
  });
}
