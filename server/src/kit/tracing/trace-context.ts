import type { IncomingHttpHeaders } from 'node:http';

/** Where a client's trace stands, from the headers of W3C Trace Context. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The client's span, 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** As the client sent it; empty without it. */
  readonly traceState: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
const SAMPLED = 1;
/** What the standard requires everyone to pass on. */
const TRACE_STATE_CHARACTERS_MAX = 512;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Null without a valid header: the request then starts a trace of its own. */
export function traceContextOf({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | null {
  if (typeof traceparent !== 'string') return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent.trim()) ?? [];
  // A later version may append fields; this one may not, and `ff` is reserved.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) !== 0;
  return { traceId, spanId, isSampled, traceState: traceStateOf(tracestate) };
}

function traceStateOf(given: string | string[] | undefined): string {
  const text = typeof given === 'string' ? given : '';
  return text.length <= TRACE_STATE_CHARACTERS_MAX && PRINTABLE.test(text) ? text : '';
}

export function traceparent(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}
