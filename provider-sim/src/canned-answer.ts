import { errorBodyFor } from './anthropic/dialect.ts';
import type { Fault } from './fault.ts';
import { refusalForStatus } from './openai-error.ts';
import type { RequestLogEntry } from './request-log.ts';
import type { WholeBody } from './send-body.ts';
import { streamType } from './sse-writer.ts';

const json = 'application/json';
const page =
  '<!doctype html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>\n';

/** The answer a fault puts in place of the asked-for one; null when the asked-for one is to be given. */
export function cannedAnswer(
  entry: RequestLogEntry,
  fault: Fault,
  streamed: boolean,
  requestBody: Buffer,
): WholeBody | null {
  if (fault.echo === true || fault.bodyBase64 !== undefined) {
    const bytes = fault.bodyBase64 === undefined ? requestBody : Buffer.from(fault.bodyBase64, 'base64');
    const status = fault.status ?? 200;
    return { status, contentType: json, bytes, outcome: status < 300 ? 'completed' : 'fault_answered' };
  }
  if (fault.redirectTo !== undefined) return canned(fault.status ?? 302, null, '');
  if (fault.body !== undefined) {
    const text = typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body);
    return canned(fault.status ?? 200, json, text);
  }
  if (fault.html200 === true) return canned(fault.status ?? 200, 'text/html; charset=utf-8', page);
  if (fault.emptyBody === true) return canned(fault.status ?? 200, streamed ? streamType : json, '');
  if (fault.status === 204) return canned(204, null, '');
  if (fault.status !== undefined && (fault.status < 200 || fault.status > 299))
    return failure(entry, fault.status);
  const failsInStream =
    fault.errorAfterCreated === true ||
    fault.errorBeforeContent === true ||
    fault.errorAfterFrames !== undefined;
  return failsInStream && !streamed && fault.rawFrames === undefined ? failure(entry, 500) : null;
}

export function failure(entry: RequestLogEntry, status: number): WholeBody {
  return canned(status, json, errorBodyFor(entry, refusalForStatus(status)));
}

function canned(status: number, contentType: string | null, text: string): WholeBody {
  return { status, contentType, bytes: Buffer.from(text), outcome: 'fault_answered' };
}
