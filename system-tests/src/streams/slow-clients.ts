import { createConnection, type Socket } from 'node:net';
import type { HungUpResult, SlowJob } from './client-jobs.ts';
import { BLOCK_FRAMES } from './endless-upstream.ts';
import { requestHeaders, streamBody } from './stream-request.ts';

/** Bytes of a client that takes all it can get, kept to be looked at. */
const KEPT_BYTES_MAX = 64 * 1024;

/**
 * Clients that take `bytesPerSecond` and no more. They read from the socket themselves: a library would take
 * in as much as it could get and only hand it out slowly.
 */
export async function runSlow(job: SlowJob, told: Promise<unknown>): Promise<HungUpResult> {
  const problems: string[] = [];
  const clients = Array.from({ length: job.streams }, (_, index) =>
    openSlow(job, `${job.tagPrefix}${index}`, problems),
  );
  const timer = setInterval(() => {
    for (const { socket } of clients) socket.resume();
  }, 1_000);
  await told;
  clearInterval(timer);
  const abortedAtMs: Record<string, number> = {};
  let receivedBytes = 0;
  for (const client of clients) {
    const text = Buffer.concat(client.taken).toString();
    receivedBytes += client.receivedBytes;
    if (!text.startsWith('HTTP/1.1 200 ')) problems.push(`${client.tag} got ${text.slice(0, 200)}`);
    else checkOrder(client.tag, text, problems);
    client.over = true;
    abortedAtMs[client.tag] = Date.now();
    client.socket.destroy();
    // One after the other: two hundred concurrently would measure how fast one process can close sockets.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { abortedAtMs, receivedBytes, problems };
}

interface SlowClient {
  readonly tag: string;
  readonly socket: Socket;
  readonly taken: Buffer[];
  receivedBytes: number;
  over: boolean;
}

function openSlow(job: SlowJob, tag: string, problems: string[]): SlowClient {
  const { hostname, port } = new URL(job.url);
  const client = { tag, taken: [] as Buffer[], receivedBytes: 0, over: false };
  const socket = createConnection({
    host: hostname,
    port: Number(port),
    onread: {
      buffer: Buffer.alloc(job.bytesPerSecond ?? KEPT_BYTES_MAX),
      callback: (bytes, buffer) => {
        if (client.receivedBytes < KEPT_BYTES_MAX) client.taken.push(Buffer.from(buffer.subarray(0, bytes)));
        client.receivedBytes += bytes;
        // False stops the reading until it is resumed.
        return job.bytesPerSecond === null;
      },
    },
  });
  const withSocket: SlowClient = Object.assign(client, { socket });
  socket.on('error', (error) => problems.push(`${tag}: ${error.message}`));
  socket.on('close', () => {
    if (!client.over) problems.push(`${tag} was closed by the server`);
  });
  const body = streamBody(job.model, { tag });
  const fields = { host: 'relay', 'content-length': Buffer.byteLength(body), ...requestHeaders(job, tag) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  return withSocket;
}

/** What has come so far must be the frames from the first on, in order. */
function checkOrder(tag: string, text: string, problems: string[]): void {
  const indexes = [...text.matchAll(new RegExp(`<${tag}:(\\d+)>`, 'g'))].map((match) => Number(match[1]));
  if (indexes.length === 0 || indexes.some((index, place) => index !== place % BLOCK_FRAMES)) {
    problems.push(`${tag} got frames ${indexes.slice(0, 20).join(', ')}`);
  }
}
