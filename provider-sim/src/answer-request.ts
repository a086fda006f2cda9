import type { Answer, Ask } from './ask.ts';
import { cannedAnswer, failure } from './canned-answer.ts';
import { cutConnection, type Exchange, pause, untilClosed } from './exchange.ts';
import { type Fault, faultCount } from './fault.ts';
import { sendBody } from './send-body.ts';
import { streamAnswer } from './sse-writer.ts';

/**
 * Gives the answer, in the order in which faults can act: before any byte, before the head, in place of the
 * answer, and within it.
 */
export async function answerRequest(
  exchange: Exchange,
  ask: Ask | null,
  fault: Fault,
  requestBody: Buffer,
): Promise<void> {
  if (fault.refuseConnection === true || fault.resetOnAccept === true) {
    return cutConnection(exchange, fault.resetOnAccept === true);
  }
  if (fault.delayMs !== undefined) await pause(exchange, fault.delayMs);
  if (fault.stallBeforeHeaders === true) return untilClosed(exchange);
  if (exchange.closed) return;
  if (fault.cutBeforeHeaders === true) return cutConnection(exchange, fault.resetOnCut === true);
  if (fault.rawSocketBase64 !== undefined) return sendRaw(exchange, fault.rawSocketBase64, fault.dripMs);
  sendInterim(exchange, fault);

  const streamed = ask !== null && isStreamed(ask, fault);
  const canned = cannedAnswer(exchange.entry, fault, streamed, requestBody);
  if (canned !== null) return sendBody(exchange, canned, fault);
  if (ask === null) return sendBody(exchange, failure(exchange.entry, 503), fault);
  if (fault.rawFrames !== undefined) return sendStream(exchange, rawAnswer(fault.rawFrames), fault);
  const answer = ask.answer(fault);
  exchange.reportOnCompletion = answer.reported;
  if (streamed) return sendStream(exchange, answer, fault);
  return sendJson(exchange, answer, fault);
}

function isStreamed(ask: Ask, fault: Fault): boolean {
  if (fault.rawFrames !== undefined) return true;
  if (['embeddings', 'models', 'count_tokens'].includes(ask.operation)) return false;
  return fault.answerAs === undefined ? ask.stream : fault.answerAs === 'stream';
}

async function sendStream(exchange: Exchange, answer: Answer, fault: Fault): Promise<void> {
  exchange.streamOpened();
  await streamAnswer(exchange, answer, fault);
}

/** The whole answer has been thought up by the time it is sent, so all of it is charged even when it is cut. */
async function sendJson(exchange: Exchange, answer: Answer, fault: Fault): Promise<void> {
  const { entry } = exchange;
  entry.promptTokens = answer.promptTokens;
  entry.completionTokens = answer.completionTokens;
  const whole = answer.body();
  const text = fault.malformedJson === true ? whole.slice(0, whole.length - (whole.length >> 2)) : whole;
  if (fault.malformedJson === true) exchange.reportOnCompletion = null;
  const bytes = Buffer.from(text);
  const status = fault.status ?? 200;
  await sendBody(exchange, { status, contentType: 'application/json', bytes, outcome: 'completed' }, fault);
}

/** A stream of exactly these bytes; nothing is known about its tokens. */
function rawAnswer(frames: string[]): Answer {
  return {
    promptTokens: 0,
    completionTokens: 0,
    reported: null,
    body: () => frames.join(''),
    frames: () => frames.map((text) => ({ text, tokens: 0, content: true })),
    errorFrame: () => 'data: {"error":{"message":"The stream failed.","type":"server_error"}}\n\n',
  };
}

/** Interim responses come before the real one and are not it. */
function sendInterim(exchange: Exchange, fault: Fault): void {
  const { res } = exchange;
  const hints = faultCount(fault.informational, 1) ?? 0;
  for (let sent = 0; sent < hints; sent += 1) res.writeEarlyHints({ link: '</hint>; rel=preload; as=fetch' });
  if (fault.status101 !== true) return;
  res.socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: sim\r\n\r\n');
}

/** Bytes that need not be HTTP at all, straight to the socket. */
async function sendRaw(exchange: Exchange, base64: string, dripMs: number | undefined): Promise<void> {
  const socket = exchange.res.socket;
  if (socket === null) return;
  const bytes = Buffer.from(base64, 'base64');
  const size = dripMs === undefined ? Math.max(1, bytes.length) : 1;
  for (let start = 0; start < bytes.length && !exchange.closed; start += size) {
    const last = start + size >= bytes.length;
    if (last) exchange.settle('fault_answered');
    socket.write(bytes.subarray(start, start + size));
    exchange.entry.bytesSent += size;
    if (dripMs !== undefined && !last) await pause(exchange, dripMs);
  }
  exchange.settle('fault_answered');
  socket.end();
}
