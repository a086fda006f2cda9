import { fallbacksOf, type RequestRecord } from '../../domain/request-record.ts';
import type { Trace } from '../../kit/tracing/tracer.ts';
import { genAiOperation } from '../../protocols/gen-ai-names.ts';
import type { Exchange } from '../exchange.ts';

export interface TraceEnd {
  readonly record: RequestRecord;
  /** Monotonic; null when nothing was sent to the client. */
  readonly firstByteMs: number | null;
  readonly settleMs: number;
  readonly endMs: number;
}

/** Adds the steps that the exchange has marks of, and the span of the whole request. */
export function endTrace(trace: Trace, exchange: Exchange, end: TraceEnd): void {
  const { startMs, marks, protocol, route } = exchange;
  const { record, firstByteMs, settleMs, endMs } = end;
  const { receivedMs, routedMs } = marks;
  if (receivedMs !== null) trace.step({ name: 'receive', startMs, endMs: receivedMs });
  if (receivedMs !== null && routedMs !== null)
    trace.step({ name: 'route', startMs: receivedMs, endMs: routedMs });
  if (firstByteMs !== null) trace.step({ name: 'respond', startMs: firstByteMs, endMs: settleMs });
  trace.step({ name: 'settle', startMs: settleMs, endMs });
  const path = `/v1${protocol.path}`;
  trace.end({
    name: `POST ${path}`,
    startMs,
    endMs,
    attributes: {
      'relay.request.id': record.requestId,
      'relay.organization.id': record.organizationId,
      'relay.lane.id': record.laneId,
      'relay.state': record.state,
      'relay.streaming': record.streaming,
      'relay.wait_ms': record.waitMs,
      'relay.attempts': record.attempts.length,
      'relay.fallbacks': fallbacksOf(record.attempts),
      'http.request.method': 'POST',
      'http.route': path,
      'http.response.status_code': record.status,
      'error.type': record.state === 'completed' ? null : record.cause,
      'gen_ai.operation.name': genAiOperation(record.operation),
      // Before it is routed, the name is any text that the client sent.
      'gen_ai.request.model': route === null ? null : exchange.model,
      'gen_ai.usage.input_tokens': record.usageSource === 'reported' ? record.actualInputTokens : null,
      'gen_ai.usage.output_tokens': record.usageSource === 'reported' ? record.actualOutputTokens : null,
    },
    failed: record.state === 'failed' && (record.status >= 500 || record.status < 400),
  });
}
