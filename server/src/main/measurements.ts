import { Operation, RequestState } from '@relay/contract';
import type { AdmissionEngine } from '../admission/engine.ts';
import type { GuardrailStage } from '../domain/guardrails/verdict.ts';
import type { RecordedGuardrail, RequestRecord } from '../domain/request-record.ts';
import type { RequestHandler } from '../http/listener.ts';
import { type ProviderSilence, watchSilence } from '../inference/dispatch/provider-silence.ts';
import type { SettledFigures } from '../inference/settle/settle.ts';
import type { Clock } from '../kit/clock.ts';
import { createTally, type Labels, type Tally } from '../kit/metrics.ts';
import { type GenAiMeasurements, measureGenAi } from './gen-ai-measurements.ts';
import { createLimitHeadroom, type LimitHeadroom } from './limit-headroom.ts';
import { metricTable } from './metric-table.ts';
import { countResults, type RequestResults } from './request-results.ts';
import { type ScriptTimes, timeScripts } from './script-times.ts';

const PLANES = ['inference', 'management', 'operations'] as const;
type Plane = (typeof PLANES)[number];
/** Indexed by the first digit of the status; 0 is a response that was never sent. */
const CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

type Count = [Labels, number];

/** Counts every request in plain numbers. They become metrics only when `/metrics` is read. */
export type Measurements = ResponseCounts &
  AdmissionTimes &
  ScriptTimes &
  RequestCounts & { readonly silence: ProviderSilence };

export function createMeasurements(clock: Clock): Measurements {
  return {
    ...countResponses(),
    ...timeAdmissions(clock),
    ...timeScripts(clock),
    ...countRequests(),
    silence: watchSilence(clock),
  };
}

interface ResponseCounts {
  /** Counts a handler's responses without changing them. */
  counted(handler: RequestHandler): RequestHandler;
  openInference(): number;
  answers(): Count[];
}

function countResponses(): ResponseCounts {
  const answers: Record<Plane, number[]> = {
    inference: CLASSES.map(() => 0),
    management: CLASSES.map(() => 0),
    operations: CLASSES.map(() => 0),
  };
  let openInference = 0;
  return {
    counted: (handler) => (request, response, requestId) => {
      const plane = planeOf(request.url ?? '');
      if (plane === 'inference') openInference += 1;
      response.once('close', () => {
        if (plane === 'inference') openInference -= 1;
        const place = response.headersSent ? Math.floor(response.statusCode / 100) : 0;
        const counts = answers[plane];
        counts[place] = (counts[place] ?? 0) + 1;
      });
      handler(request, response, requestId);
    },
    openInference: () => openInference,
    answers: () =>
      PLANES.flatMap((plane) =>
        CLASSES.map((status, place): Count => [{ plane, status }, answers[plane][place] ?? 0]),
      ),
  };
}

interface AdmissionTimes {
  /** Times an engine's `admit` without changing it. */
  timed(engine: AdmissionEngine): AdmissionEngine;
  admissionFailures(): number;
  readonly admissions: Tally;
  readonly headroom: Pick<LimitHeadroom, 'tightest' | 'lowest'>;
}

function timeAdmissions(clock: Clock): AdmissionTimes {
  const admissions = createTally(metricTable.relay_admission_seconds.bounds);
  const headroom = createLimitHeadroom(clock);
  let admissionFailures = 0;
  return {
    headroom,
    timed: (engine) => ({
      ...engine,
      async admit(ask) {
        const startMs = clock.monotonicMs();
        try {
          const answer = await engine.admit(ask);
          admissions.observe((clock.monotonicMs() - startMs) / 1_000);
          headroom.note(ask, answer);
          return answer;
        } catch (error) {
          admissionFailures += 1;
          throw error;
        }
      },
    }),
    admissionFailures: () => admissionFailures,
    admissions,
  };
}

interface RequestCounts
  extends GuardrailCounts,
    Pick<GenAiMeasurements, 'genAi'>,
    Omit<RequestResults, 'ended'> {
  settled(record: RequestRecord, figures: SettledFigures): void;
  /** Requests with a report of usage that cannot be true. */
  boundedUsage(): number;
  requests(): Count[];
  readonly waits: Tally;
  readonly firstBytes: Tally;
  readonly upstreamFirstBytes: Tally;
  readonly overheads: Tally;
  readonly latencies: Tally;
  /** Of streams with content. */
  readonly firstTokens: Tally;
}

function countRequests(): RequestCounts {
  const { note, ...guardrailCounts } = countGuardrails();
  const { noteGenAi, genAi } = measureGenAi();
  const { ended, ...results } = countResults();
  const overheads = createTally(metricTable.relay_overhead_seconds.bounds);
  const latencies = createTally(metricTable.relay_latency_seconds.bounds);
  const firstTokens = createTally(metricTable.relay_time_to_first_token_seconds.bounds);
  const waits = createTally(metricTable.relay_wait_seconds.bounds);
  const firstBytes = createTally(metricTable.relay_first_byte_seconds.bounds);
  const upstreamFirstBytes = createTally(metricTable.relay_upstream_first_byte_seconds.bounds);
  /** Every pair is present from the start, so that a counter is 0 before its first request. */
  const requests = new Map(
    Operation.enum.map((operation) => [operation, new Map(RequestState.enum.map((state) => [state, 0]))]),
  );
  let boundedUsage = 0;
  return {
    ...guardrailCounts,
    ...results,
    genAi,
    settled(record, { overheadMs, firstByteMs, presetSlug }) {
      const { operation, state, waitMs, ttftMs, latencyMs, timings, guardrails, status } = record;
      ended(record);
      if (record.reportedUsage !== undefined) boundedUsage += 1;
      const counts = requests.get(operation);
      counts?.set(state, (counts.get(state) ?? 0) + 1);
      if (guardrails !== undefined) for (const recorded of guardrails) note(recorded);
      waits.observe(waitMs / 1_000);
      latencies.observe(latencyMs / 1_000);
      if (overheadMs !== null) overheads.observe(overheadMs / 1_000);
      if (firstByteMs !== null) firstBytes.observe(firstByteMs / 1_000);
      if (ttftMs !== null && record.streaming && status < 300) firstTokens.observe(ttftMs / 1_000);
      const upstreamMs = timings?.upstreamFirstByteMs ?? null;
      if (upstreamMs !== null) upstreamFirstBytes.observe(upstreamMs / 1_000);
      noteGenAi(record, presetSlug);
    },
    boundedUsage: () => boundedUsage,
    requests: () =>
      [...requests].flatMap(([operation, counts]) =>
        [...counts].map(([state, count]): Count => [{ operation, state }, count]),
      ),
    waits,
    firstBytes,
    upstreamFirstBytes,
    overheads,
    latencies,
    firstTokens,
  };
}

interface GuardrailCounts {
  guardrailVerdicts(): Count[];
  readonly guardrailTimes: Readonly<Record<GuardrailStage, Tally>>;
}

function countGuardrails(): GuardrailCounts & { note(recorded: RecordedGuardrail): void } {
  const guardrailTimes = {
    pre_dispatch: createTally(metricTable.relay_guardrail_pre_dispatch_seconds.bounds),
    post_response: createTally(metricTable.relay_guardrail_post_response_seconds.bounds),
  };
  /** By stage, verdict and cause; the types bound the number of combinations. */
  const verdicts = new Map<string, Count>();
  return {
    note({ stage, verdict, latencyMs, cause = 'none' }) {
      guardrailTimes[stage].observe(latencyMs / 1_000);
      const key = `${stage} ${verdict} ${cause}`;
      verdicts.set(key, [{ stage, verdict, cause }, (verdicts.get(key)?.[1] ?? 0) + 1]);
    },
    guardrailVerdicts: () => [...verdicts.values()],
    guardrailTimes,
  };
}

function planeOf(url: string): Plane {
  if (url.startsWith('/v1/')) return 'inference';
  return url.startsWith('/api/') ? 'management' : 'operations';
}
