import { createConnection, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** Names in lower case; of several the last. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Conversation {
  /** Interim responses included, in order. */
  readonly responses: readonly RawResponse[];
  /** What the connection ended with; null when it was still open at the end. */
  readonly ended: 'closed' | 'reset' | null;
  readonly tookMs: number;
  /** What the client had handed to the system by then. */
  readonly sentBytes: number;
}

export interface Talk {
  readonly url: string;
  /** Sends; may return before everything is sent. */
  readonly send: (socket: Socket) => unknown;
  /** The conversation is over after this many final responses, or when the connection closes. */
  readonly responses?: number;
  /** Waits for the connection to close as well. */
  readonly untilClosed?: boolean;
  readonly timeoutMs?: number;
}

/** One connection, byte by byte: for what no HTTP library would send. */
export function talk(given: Talk): Promise<Conversation> {
  const { hostname, port } = new URL(given.url);
  const startMs = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = createConnection({ host: hostname, port: Number(port), noDelay: true });
    const timer = setTimeout(() => finish(null), given.timeoutMs ?? 5_000);
    function finish(ended: Conversation['ended']): void {
      clearTimeout(timer);
      const tookMs = performance.now() - startMs;
      const sentBytes = socket.bytesWritten;
      resolve({ responses: parseResponses(Buffer.concat(chunks)), ended, tookMs, sentBytes });
      socket.destroy();
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (given.untilClosed === true) return;
      const final = parseResponses(Buffer.concat(chunks)).filter(({ status }) => status >= 200);
      if (final.length >= (given.responses ?? 1)) finish(null);
    });
    socket.on('error', () => finish('reset'));
    socket.on('close', () => finish('closed'));
    socket.on('connect', () => given.send(socket));
  });
}

/** As many whole responses as the bytes hold. A body has a length, is chunked, or ends with the connection. */
function parseResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const head = /^HTTP\/1\.1 (\d{3})/.exec(rest.subarray(0, 12).toString('latin1'));
    if (end < 0 || head === null) return responses;
    const status = Number(head[1]);
    const headers: Record<string, string> = {};
    for (const line of rest.subarray(0, end).toString('latin1').split('\r\n').slice(1)) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const body = takeBody(rest.subarray(end + 4), status, headers);
    if (body === null) return responses;
    responses.push({ status, headers, body: body.text });
    rest = body.rest;
  }
}

function takeBody(
  bytes: Buffer,
  status: number,
  headers: Readonly<Record<string, string>>,
): { text: string; rest: Buffer } | null {
  if (status < 200) return { text: '', rest: bytes };
  const length = headers['content-length'];
  if (length !== undefined) {
    const size = Number(length);
    // The answer to HEAD announces a body that does not come.
    if (bytes.length === 0 && size > 0) return { text: '', rest: bytes };
    return bytes.length < size ? null : { text: bytes.toString('utf8', 0, size), rest: bytes.subarray(size) };
  }
  if (headers['transfer-encoding'] !== 'chunked') return { text: bytes.toString(), rest: Buffer.alloc(0) };
  const end = bytes.indexOf('0\r\n\r\n');
  return end < 0 ? null : { text: bytes.toString('utf8', 0, end), rest: bytes.subarray(end + 5) };
}
