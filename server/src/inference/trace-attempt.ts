import type { Candidate } from '../domain/routing/routing.ts';
import { genAiOperation, genAiProvider } from '../protocols/gen-ai-names.ts';
import type { Passage } from '../protocols/passage.ts';
import type { AttemptRecord, AttemptResult, Exchange } from './exchange.ts';

export interface TracedAttempt {
  readonly candidate: Candidate;
  readonly passage: Passage;
  readonly record: AttemptRecord;
  readonly result: AttemptResult;
  readonly startMs: number;
  readonly endMs: number;
}

/** The span of one attempt: ids, names and numbers, nothing that was said. */
export function traceAttempt({ trace }: Exchange, attempt: TracedAttempt): void {
  if (trace === null) return;
  const { candidate, passage, record, result, startMs, endMs } = attempt;
  const { endpoint, provider, origin } = candidate;
  const operation = genAiOperation(passage.protocol.operation);
  const usage = result.metered.reported;
  const { hostname, port } = new URL(origin);
  trace.attempt({
    name: `${operation} ${endpoint.upstreamModel}`,
    startMs,
    endMs,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': genAiProvider(provider.presetSlug),
      'gen_ai.request.model': endpoint.upstreamModel,
      'gen_ai.usage.input_tokens': usage?.inputTokens ?? null,
      'gen_ai.usage.output_tokens': usage?.outputTokens ?? null,
      'server.address': hostname,
      'server.port': port === '' ? null : Number(port),
      'http.response.status_code': record.status,
      'error.type': record.cause,
      'relay.endpoint.id': endpoint.id,
      'relay.provider.id': provider.id,
      'relay.attempt.outcome': record.outcome,
    },
    failed: record.outcome === 'failed',
  });
}
