import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import { type Attributes, type EncodedSpan, encodeSpan } from './otlp.ts';
import { type TraceContext, traceContextOf, traceparent } from './trace-context.ts';

/** Requests per second that a process traces because their client does. The others are traced by chance, as without a client's trace. */
export const CLIENT_SAMPLED_PER_SECOND = 100;
/** A request with more steps loses those after it. */
const SPANS_MAX = 128;

/** Takes finished traces. Must be quick, and keeps a bounded number. */
export interface TraceSink {
  take(spans: readonly Buffer[]): void;
}

export interface TracerDeps {
  readonly sink: TraceSink;
  readonly clock: Clock;
  /** From 0 to 1: of the requests whose client has no trace. */
  readonly sampleRatio: number;
  readonly random: () => number;
}

export interface Tracer {
  /** Null: the request is not traced. Call it for authenticated requests only. */
  begin(headers: IncomingHttpHeaders): Trace | null;
}

/**
 * Decides which requests are traced. A client that traces is followed, within a bound that keeps clients from having all of their
 * requests traced; a client that says that its trace is not sampled is not traced.
 */
export function createTracer({ sink, clock, sampleRatio, random }: TracerDeps): Tracer {
  let second = 0;
  let followed = 0;
  const mayFollow = () => {
    const now = Math.floor(clock.monotonicMs() / 1_000);
    if (now !== second) {
      second = now;
      followed = 0;
    }
    followed += 1;
    return followed <= CLIENT_SAMPLED_PER_SECOND;
  };
  return {
    begin(headers) {
      const parent = headers['traceparent'] === undefined ? null : traceContextOf(headers);
      // Not by the trace's id: a client chooses it.
      const byChance = random() < sampleRatio;
      const isSampled = parent === null ? byChance : parent.isSampled && (mayFollow() || byChance);
      return isSampled ? new Trace(parent, sink, clock) : null;
    },
  };
}

export interface SpanDetails {
  readonly name: string;
  /** On the monotonic clock. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes?: Attributes;
  readonly failed?: boolean;
}

/** The spans of one request. Nothing of it reaches the sink before its end. */
export class Trace {
  readonly traceId: string;
  readonly #parent: TraceContext | null;
  readonly #rootId = newId(8);
  readonly #sink: TraceSink;
  /** From the monotonic clock to the time of the epoch. */
  readonly #offsetMs: number;
  readonly #spans: Buffer[] = [];
  #attemptId = '';

  constructor(parent: TraceContext | null, sink: TraceSink, clock: Clock) {
    this.#parent = parent;
    this.#sink = sink;
    this.traceId = parent?.traceId ?? newId(16);
    this.#offsetMs = clock.nowMs() - clock.monotonicMs();
  }

  /** The header of the request to the provider, which becomes a child of the attempt. */
  startAttempt(): string {
    this.#attemptId = newId(8);
    return traceparent(this.traceId, this.#attemptId);
  }

  attempt(details: SpanDetails): void {
    this.#add(details, 'client', this.#attemptId);
  }

  step(details: SpanDetails): void {
    this.#add(details, 'internal', newId(8));
  }

  /** Call once, after everything else. */
  end(details: SpanDetails): void {
    this.#spans.push(
      this.#encoded(details, {
        spanId: this.#rootId,
        parentId: this.#parent?.spanId ?? null,
        isRemote: this.#parent !== null,
        kind: 'server',
      }),
    );
    this.#sink.take(this.#spans);
  }

  #add(details: SpanDetails, kind: EncodedSpan['kind'], spanId: string): void {
    if (this.#spans.length >= SPANS_MAX) return;
    this.#spans.push(this.#encoded(details, { spanId, parentId: this.#rootId, isRemote: false, kind }));
  }

  #encoded(
    { name, startMs, endMs, attributes = {}, failed = false }: SpanDetails,
    place: Pick<EncodedSpan, 'spanId' | 'parentId' | 'isRemote' | 'kind'>,
  ): Buffer {
    return encodeSpan({
      ...place,
      traceId: this.traceId,
      traceState: this.#parent?.traceState ?? '',
      name,
      startMs: startMs + this.#offsetMs,
      endMs: endMs + this.#offsetMs,
      attributes,
      failed,
    });
  }
}

function newId(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
