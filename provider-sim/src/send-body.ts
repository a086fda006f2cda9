import { createByteWriter } from './byte-writer.ts';
import { compressWhole } from './compress.ts';
import { cutConnection, type Exchange, untilClosed } from './exchange.ts';
import { type Fault, faultCount } from './fault.ts';
import type { Outcome } from './request-log.ts';
import { writeHead } from './response-head.ts';

const missingBytesDefault = 16;

export interface WholeBody {
  status: number;
  contentType: string | null;
  bytes: Buffer;
  outcome: Outcome;
}

/**
 * Sends a body that is not a stream. Faults that speak of frames act here on the body's halves: cut, end or
 * fall silent in the middle of it.
 */
export async function sendBody(exchange: Exchange, body: WholeBody, fault: Fault): Promise<void> {
  const bytes = compressWhole(body.bytes, fault.encoding);
  const missing = faultCount(fault.wrongContentLength, missingBytesDefault) ?? 0;
  const endsEarly = fault.endAfterFrames !== undefined;
  const contentLength = endsEarly ? null : bytes.length + missing;
  writeHead(exchange, { status: body.status, contentType: body.contentType, contentLength }, fault);
  const writer = createByteWriter(exchange, fault);
  const half = bytes.subarray(0, bytes.length >> 1);

  if (fault.stallAfterFrames !== undefined) {
    if (fault.stallAfterFrames > 0) await writer.write(half);
    await writer.flush();
    exchange.res.flushHeaders();
    return untilClosed(exchange);
  }
  if (fault.cutAfterFrames !== undefined || fault.cutMidFrame === true) {
    exchange.res.flushHeaders();
    if (fault.cutAfterFrames !== 0) await writer.write(half);
    if (!(await writer.flush())) return;
    return cutConnection(exchange, fault.resetOnCut === true);
  }
  if (endsEarly) return writer.end(fault.endAfterFrames === 0 ? Buffer.alloc(0) : half, 'ended_early');
  return writer.end(bytes, body.outcome);
}
