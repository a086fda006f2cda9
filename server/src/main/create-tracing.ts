import { randomUUID } from 'node:crypto';
import { createInternalLink } from '../kit/egress/index.ts';
import { sendTraces } from '../kit/tracing/send-traces.ts';
import { createTraceExporter, type TraceExportState } from '../kit/tracing/trace-exporter.ts';
import { createTracer, type Tracer } from '../kit/tracing/tracer.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 10_000;
const FLUSH_MS_MAX = 2_000;
/** One export at a time; an owner that is alone may hold half of them. */
const EXPORTS_MAX = 2;

export interface RunningTracing {
  readonly tracer: Tracer;
  state(): TraceExportState;
  stop(): Promise<void>;
}

/** Null while tracing is off, and in a role that serves no inference. */
export function createTracing({
  environment,
  roleName,
  deployment,
  clock,
  log,
}: Runtime): RunningTracing | null {
  const target = environment.RELAY_TRACES_URL;
  if (target === null || !roles[roleName].inference) return null;
  const link = createInternalLink({
    origin: target.origin,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    requestsMax: EXPORTS_MAX,
    headTimeoutMs: ANSWER_TIMEOUT_MS,
    idleTimeoutMs: ANSWER_TIMEOUT_MS,
  });
  const headers = environment.RELAY_TRACES_HEADERS ?? [];
  const exporter = createTraceExporter({
    send: (body) => sendTraces(link, target, headers, body),
    resource: {
      'service.name': 'relay',
      'service.version': deployment.version,
      'service.instance.id': randomUUID(),
      'relay.role': roleName,
    },
    version: deployment.version,
    clock,
    log,
  });
  const sampleRatio = environment.RELAY_TRACES_SAMPLE_RATIO;
  return {
    tracer: createTracer({ sink: exporter, clock, sampleRatio, random: Math.random }),
    state: exporter.state,
    async stop() {
      await exporter.stop(FLUSH_MS_MAX);
      await link.close();
    },
  };
}
