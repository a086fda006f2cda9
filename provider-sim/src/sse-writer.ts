import type { Answer, Frame } from './ask.ts';
import { type ByteWriter, createByteWriter } from './byte-writer.ts';
import { createFrameCompressor } from './compress.ts';
import { cutConnection, type Exchange, pause, turn, untilClosed } from './exchange.ts';
import { type Fault, faultCount } from './fault.ts';
import { writeHead } from './response-head.ts';

const falseLengthBytes = 1_000_000_000;
const coalescedFramesDefault = 16;

type Stop = 'stall' | 'cut' | 'end' | 'error';

/** Streams an answer frame by frame, with back-pressure, until its end or the fault that stops it. */
export async function streamAnswer(exchange: Exchange, answer: Answer, fault: Fault): Promise<void> {
  const { entry } = exchange;
  const contentLength = faultCount(fault.wrongContentLength, falseLengthBytes);
  writeHead(exchange, { status: fault.status ?? 200, contentType: streamType, contentLength }, fault);
  entry.promptTokens = answer.promptTokens;
  const output = createFrameOutput(exchange, fault);
  const frames = answer.frames()[Symbol.iterator]();
  let next = frames.next();
  let taken = 0;
  let malformed = false;
  while (!exchange.closed) {
    const stop = stopBefore(next.done === true ? null : next.value, taken, fault);
    if (stop !== null) return stopStream(stop, exchange, answer, fault, output, next.value ?? null);
    if (next.done === true) return output.end(null);
    let frame: Frame = next.value;
    if (fault.malformedJson === true && frame.content && !malformed) {
      malformed = true;
      frame = { ...frame, text: `${frame.text.slice(0, frame.text.length >> 1)}\n\n` };
    }
    next = frames.next();
    taken += 1;
    // Sends the end together with the last frame, so a client that has the terminator finds the request counted.
    if (next.done === true && stopBefore(null, taken, fault) === null) return output.end(frame);
    const added = output.add(frame);
    if (!(typeof added === 'boolean' ? added : await added)) return;
    if (fault.frameDelayMs !== undefined) await pause(exchange, fault.frameDelayMs);
    else if (output.waiting() === 0) await turn();
  }
}

export const streamType = 'text/event-stream; charset=utf-8';

/** Which fault acts once `taken` frames are out; `next` is null at the end of the stream. */
function stopBefore(next: Frame | null, taken: number, fault: Fault): Stop | null {
  if (fault.stallAfterFrames === taken) return 'stall';
  if ((fault.cutAfterFrames ?? (fault.cutMidFrame === true ? 2 : -1)) === taken) return 'cut';
  if (fault.endAfterFrames === taken) return 'end';
  if (fault.errorAfterFrames === taken) return 'error';
  if (fault.errorAfterCreated === true && taken === 1) return 'error';
  return fault.errorBeforeContent === true && next?.content === true ? 'error' : null;
}

async function stopStream(
  stop: Stop,
  exchange: Exchange,
  answer: Answer,
  fault: Fault,
  output: FrameOutput,
  next: Frame | null,
): Promise<void> {
  if (stop === 'error') {
    // Nothing was said, so nothing is charged that was not reported: Messages report the input in their first frame.
    const { entry } = exchange;
    const hasReported = entry.path.endsWith('/messages') && entry.framesSent > 0;
    if (entry.writtenTokens === 0 && !hasReported) entry.promptTokens = 0;
    const text = answer.errorFrame(exchange.entry.framesSent);
    return output.end({ text, tokens: 0, content: false }, 'error_in_stream');
  }
  if (stop === 'end') return output.end(null, 'ended_early');
  if (!(await output.flush())) return;
  if (stop === 'stall') return untilClosed(exchange);
  if (fault.cutMidFrame === true && next !== null) await output.half(next);
  await cutConnection(exchange, fault.resetOnCut === true);
}

interface FrameOutput {
  add(frame: Frame): boolean | Promise<boolean>;
  /** Frames held back to leave together. */
  waiting(): number;
  flush(): Promise<boolean>;
  /** Half of a frame, which is not counted as one. */
  half(frame: Frame): Promise<void>;
  end(frame: Frame | null, outcome?: 'completed' | 'error_in_stream' | 'ended_early'): Promise<void>;
}

function createFrameOutput(exchange: Exchange, fault: Fault): FrameOutput {
  const { entry, res } = exchange;
  const writer: ByteWriter = createByteWriter(exchange, fault);
  const compressor = fault.encoding === undefined ? null : createFrameCompressor(fault.encoding);
  const batchMax = faultCount(fault.coalesce, coalescedFramesDefault) ?? 1;
  let batch: Frame[] = [];

  function bytesOf(frames: Frame[]): Buffer {
    let text = '';
    for (const frame of frames)
      text += fault.comments === true ? `: keep-alive\n\n${frame.text}` : frame.text;
    return Buffer.from(fault.crlf === true ? text.replaceAll('\n', '\r\n') : text);
  }

  function count(frames: Frame[]): void {
    for (const frame of frames) {
      entry.framesSent += 1;
      entry.writtenTokens += frame.tokens;
      entry.completionTokens += frame.tokens;
    }
  }

  function writeBatch(): boolean | Promise<boolean> {
    const frames = batch;
    batch = [];
    if (frames.length === 0) return !exchange.closed;
    const bytes = bytesOf(frames);
    const sent = compressor === null ? writer.write(bytes) : compressor.push(bytes).then(writer.write);
    if (typeof sent !== 'boolean') return sent.then((open) => countIf(open, frames));
    return countIf(sent, frames);
  }

  function countIf(open: boolean, frames: Frame[]): boolean {
    if (open) count(frames);
    return open;
  }

  return {
    add(frame) {
      batch.push(frame);
      return batch.length < batchMax ? !exchange.closed : writeBatch();
    },
    waiting: () => batch.length,
    async flush() {
      if (!(await writeBatch()) || !(await writer.flush())) return false;
      res.flushHeaders();
      return true;
    },
    async half(frame) {
      const bytes = bytesOf([frame]);
      const part = bytes.subarray(0, bytes.length >> 1);
      await writer.write(compressor === null ? part : await compressor.push(part));
      await writer.flush();
    },
    async end(frame, outcome = 'completed') {
      if (frame !== null) batch.push(frame);
      const frames = batch;
      batch = [];
      const bytes = bytesOf(frames);
      count(frames);
      await writer.end(compressor === null ? bytes : await compressor.finish(bytes), outcome);
    },
  };
}
