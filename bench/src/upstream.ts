// A provider that costs next to nothing, so that the gateway before it is what gets measured: one canned
// chat answer, or a stream of frames in step, of chat or of Messages. Started as `node upstream.ts --port N --frames N`.
import { createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { messagesFrames, streamFrames, wholeAnswer } from './canned-answers.ts';

/** Slow enough that every frame travels alone, as a model's tokens do, instead of piling up in buffers. */
const FRAME_INTERVAL_MS = 5;
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
  'x-request-id: req_upstream\r\ntransfer-encoding: chunked\r\n\r\n';

const { values } = parseArgs({ options: { port: { type: 'string' }, frames: { type: 'string' } } });
if (values.port === undefined || values.frames === undefined)
  throw new Error('--port N and --frames N are required');
const frames = Number(values.frames);

const answer = wholeAnswer();
const whole = Buffer.concat([
  Buffer.from(
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_upstream\r\n' +
      `openai-processing-ms: 12\r\ncontent-length: ${answer.length}\r\n\r\n`,
  ),
  answer,
]);
const plainChunks = streamFrames(false, frames).map(asChunk);
const meteredChunks = streamFrames(true, frames).map(asChunk);
const messagesChunks = messagesFrames(frames).map(asChunk);
const streams = new Map<Socket, { chunks: readonly Buffer[]; sent: number }>();

function asChunk(frame: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${frame.length.toString(16)}\r\n`), frame, Buffer.from('\r\n')]);
}

setInterval(() => {
  for (const [socket, stream] of streams) {
    const chunk = stream.chunks[stream.sent];
    stream.sent += 1;
    if (chunk !== undefined) {
      socket.write(chunk);
      continue;
    }
    streams.delete(socket);
    socket.write('0\r\n\r\n');
  }
}, FRAME_INTERVAL_MS);

function answerRequest(socket: Socket, head: string, body: Buffer): void {
  if (body.includes('"stream":true')) {
    socket.write(STREAM_HEAD);
    const chatChunks = body.includes('"include_usage":true') ? meteredChunks : plainChunks;
    const isMessages = head.startsWith('POST /v1/messages ');
    streams.set(socket, { chunks: isMessages ? messagesChunks : chatChunks, sent: 0 });
  } else {
    socket.write(whole);
  }
}

createServer({ noDelay: true }, (socket) => {
  let pieces: Buffer[] = [];
  let piecesBytes = 0;
  let neededBytes = 0;
  socket.on('data', (chunk: Buffer) => {
    pieces.push(chunk);
    piecesBytes += chunk.length;
    if (piecesBytes < neededBytes) return;
    const received = pieces.length === 1 ? chunk : Buffer.concat(pieces, piecesBytes);
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd >= 0) {
      const head = received.toString('latin1', 0, headEnd);
      const bodyBytes = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      neededBytes = headEnd + 4 + bodyBytes;
      if (received.length >= neededBytes) {
        // Gateways send the next request only after the answer to the last, so nothing can follow.
        answerRequest(socket, head, received.subarray(headEnd + 4));
        pieces = [];
        piecesBytes = 0;
        neededBytes = 0;
        return;
      }
    }
    pieces = [received];
  });
  socket.on('close', () => streams.delete(socket));
  socket.on('error', () => socket.destroy());
}).listen(Number(values.port), '127.0.0.1');
