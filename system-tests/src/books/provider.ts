import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Billed, Piece, Play } from './bill.ts';

/** A provider that plays scripts byte by byte and keeps its own bill. */
export interface BilledProvider {
  /** The base URL of an endpoint, which its requests name. */
  urlOf(endpoint: string): string;
  readonly port: number;
  /** What the provider does with the next requests to these endpoints, in order; answers the bill, which grows with them. */
  expect(endpoints: readonly string[], plays: readonly Play[]): Bill;
  close(): Promise<void>;
}

export interface Bill {
  readonly requests: readonly Billed[];
  /** Resolves when so many requests were played as far as they go. */
  played(count: number): Promise<void>;
  /** Later requests to the endpoints are counted, and get no answer. */
  end(): void;
}

interface OpenBill {
  readonly requests: Billed[];
  readonly plays: Play[];
  readonly waiting: { count: number; resolve: () => void }[];
}

const HEAD_END = Buffer.from('\r\n\r\n');
const TLS_HANDSHAKE = 0x16;
const CHUNKS_END = Buffer.from('0\r\n\r\n');

export async function startBilledProvider(): Promise<BilledProvider> {
  const open = new Map<string, OpenBill>();
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    // One for each request on it.
    socket.setMaxListeners(0);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    serveConnection(socket, open);
  });
  server.listen(0, '127.0.0.1', 1_024);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    urlOf: (endpoint) => `http://127.0.0.1:${port}/${endpoint}/v1`,
    expect(endpoints, plays) {
      const bill: OpenBill = { requests: [], plays: [...plays], waiting: [] };
      for (const endpoint of endpoints) open.set(endpoint, bill);
      return {
        requests: bill.requests,
        async played(count) {
          if (bill.requests.length < count)
            await new Promise<void>((resolve) => bill.waiting.push({ count, resolve }));
          await Promise.all(bill.requests.slice(0, count).map(({ played }) => played));
        },
        end() {
          for (const endpoint of endpoints) if (open.get(endpoint) === bill) open.delete(endpoint);
          for (const { resolve } of bill.waiting) resolve();
        },
      };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One request after the other. It is seen as soon as its first line arrives, and played when it is complete. */
function serveConnection(socket: Socket, open: ReadonlyMap<string, OpenBill>): void {
  let bytes: Buffer = Buffer.alloc(0);
  let seen: ReturnType<typeof see> | null = null;
  socket.on('data', (chunk: Buffer) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    if (seen === null) {
      // A TLS handshake: this port does not speak it.
      if (bytes[0] === TLS_HANDSHAKE) {
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
        return;
      }
      const endpoint = /^[A-Z]+ \/([^/ ]+)\//.exec(bytes.subarray(0, 200).toString('latin1'))?.[1];
      if (endpoint === undefined) return;
      seen = see(socket, endpoint, open.get(endpoint));
    }
    const end = requestEnd(bytes);
    if (end < 0) return;
    bytes = bytes.subarray(end);
    const { bill, play } = seen;
    seen = null;
    play(bill?.plays.shift());
  });
}

function see(socket: Socket, endpoint: string, bill: OpenBill | undefined) {
  let play: (play: Play | undefined) => void = () => undefined;
  const reports: Billed['reports'] = [];
  const played = new Promise<void>((resolve) => {
    play = (given) => {
      if (given === undefined) socket.destroy();
      else void perform(socket, given, reports).then(resolve, resolve);
    };
    socket.once('close', () => resolve());
  });
  bill?.requests.push({ endpoint, atMs: Date.now(), reports, played });
  for (const { count, resolve } of bill?.waiting ?? [])
    if (bill !== undefined && bill.requests.length >= count) resolve();
  return { bill, play };
}

/** Where the request ends; -1 while it is not complete. */
function requestEnd(bytes: Buffer): number {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return -1;
  const head = bytes.subarray(0, headEnd).toString('latin1');
  const bodyAt = headEnd + HEAD_END.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const end = bodyAt + Number(length);
    return bytes.length < end ? -1 : end;
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return bodyAt;
  const end = bytes.indexOf(CHUNKS_END, bodyAt);
  return end < 0 ? -1 : end + CHUNKS_END.length;
}

async function perform(socket: Socket, play: Play, reports: Billed['reports']): Promise<void> {
  const { head, framing, pieces, missing = 0, gapMs, pauseMs, end, trailing } = play;
  const length = pieces.reduce((sum, { bytes }) => sum + bytes.length, missing);
  if (typeof head === 'string') await write(socket, Buffer.from(head));
  else if (head !== null) await write(socket, headBytes(play, length));
  for (const [index, piece] of pieces.entries()) {
    if (gapMs !== undefined) await pause(socket, gapMs);
    if (pauseMs !== undefined && index === pieces.length - 1) await pause(socket, pauseMs);
    if (socket.destroyed) return;
    await write(socket, framing === 'chunked' ? chunkOf(piece) : piece.bytes);
    if (piece.report !== undefined) reports.push(piece.report);
  }
  if (end === 'cut') socket.end();
  if (end !== 'clean') return;
  if (framing === 'chunked') await write(socket, CHUNKS_END);
  if (trailing === undefined) return;
  await write(socket, Buffer.from(trailing));
  socket.end();
}

function headBytes({ head, framing, trailing, end }: Play, length: number): Buffer {
  if (head === null || typeof head === 'string') return Buffer.alloc(0);
  const closes = trailing !== undefined || end !== 'clean';
  const headers = {
    ...head.headers,
    ...(framing === 'length' ? { 'content-length': String(length) } : { 'transfer-encoding': 'chunked' }),
    ...(closes ? { connection: 'close' } : {}),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${head.status} Played\r\n${lines.join('')}\r\n`);
}

function chunkOf({ bytes }: Piece): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** Resolves when the system has the bytes; rejects when the connection is gone. */
function write(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) reject(new Error('the connection is gone'));
    else if (bytes.length === 0) resolve();
    else socket.write(bytes, (error) => (error == null ? resolve() : reject(error)));
  });
}

function pause(socket: Socket, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
