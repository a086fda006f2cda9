import type { AdmissionEngine } from '../admission/engine.ts';
import type { GuardrailStage } from '../domain/guardrails/verdict.ts';
import type { RecordedGuardrail, RequestRecord } from '../domain/request-record.ts';
import type { RequestHandler } from '../http/listener.ts';
import type { Clock } from '../kit/clock.ts';
import { createTally, type Labels, type Tally } from '../kit/metrics.ts';
import { metricTable } from './metric-table.ts';

const PLANES = ['inference', 'management', 'operations'] as const;
type Plane = (typeof PLANES)[number];
/** By the first digit of the status; 0 stands for no answer. */
const CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** What is counted for every request: plain numbers, made into metrics when somebody asks. */
export interface Measurements {
  /** Counts the answers of a handler, which stays as it is. */
  counted(handler: RequestHandler): RequestHandler;
  settled(record: RequestRecord): void;
  /** Times the questions to an engine, which stays as it is. */
  timed(engine: AdmissionEngine): AdmissionEngine;
  openInference(): number;
  answers(): [Labels, number][];
  requests(): [Labels, number][];
  admissionFailures(): number;
  guardrailVerdicts(): [Labels, number][];
  readonly waits: Tally;
  readonly firstBytes: Tally;
  readonly upstreamFirstBytes: Tally;
  readonly admissions: Tally;
  readonly guardrailTimes: Readonly<Record<GuardrailStage, Tally>>;
}

export function createMeasurements(clock: Clock): Measurements {
  const answers: Record<Plane, number[]> = {
    inference: CLASSES.map(() => 0),
    management: CLASSES.map(() => 0),
    operations: CLASSES.map(() => 0),
  };
  const states = () => ({ completed: 0, failed: 0, cancelled: 0 });
  const requests = { chat: states(), responses: states(), embeddings: states() };
  const waits = createTally(metricTable.relay_wait_seconds.bounds);
  const firstBytes = createTally(metricTable.relay_first_byte_seconds.bounds);
  const upstreamFirstBytes = createTally(metricTable.relay_upstream_first_byte_seconds.bounds);
  const admissions = createTally(metricTable.relay_admission_seconds.bounds);
  const guardrailTimes = {
    pre_dispatch: createTally(metricTable.relay_guardrail_pre_dispatch_seconds.bounds),
    post_response: createTally(metricTable.relay_guardrail_post_response_seconds.bounds),
  };
  /** By stage, verdict and cause; few combinations come up, and each is bounded by its type. */
  const verdicts = new Map<string, [Labels, number]>();
  let openInference = 0;
  let admissionFailures = 0;

  function noteVerdict(said: RecordedGuardrail): void {
    const { stage, verdict, latencyMs } = said;
    const cause = said.cause ?? 'none';
    guardrailTimes[stage].observe(latencyMs / 1_000);
    const key = `${stage} ${verdict} ${cause}`;
    verdicts.set(key, [{ stage, verdict, cause }, (verdicts.get(key)?.[1] ?? 0) + 1]);
  }

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
    settled({ operation, state, waitMs, ttftMs, timings, guardrails = [] }) {
      requests[operation][state] += 1;
      for (const said of guardrails) noteVerdict(said);
      waits.observe(waitMs / 1_000);
      if (ttftMs !== null) firstBytes.observe(ttftMs / 1_000);
      const upstreamMs = timings?.upstreamFirstByteMs ?? null;
      if (upstreamMs !== null) upstreamFirstBytes.observe(upstreamMs / 1_000);
    },
    timed: (engine) => ({
      ...engine,
      async admit(ask) {
        const startMs = clock.monotonicMs();
        try {
          const answer = await engine.admit(ask);
          admissions.observe((clock.monotonicMs() - startMs) / 1_000);
          return answer;
        } catch (error) {
          admissionFailures += 1;
          throw error;
        }
      },
    }),
    openInference: () => openInference,
    answers: () =>
      PLANES.flatMap((plane) =>
        CLASSES.map((status, place): [Labels, number] => [{ plane, status }, answers[plane][place] ?? 0]),
      ),
    requests: () =>
      Object.entries(requests).flatMap(([operation, counts]) =>
        Object.entries(counts).map(([state, count]): [Labels, number] => [{ operation, state }, count]),
      ),
    admissionFailures: () => admissionFailures,
    guardrailVerdicts: () => [...verdicts.values()],
    waits,
    firstBytes,
    upstreamFirstBytes,
    admissions,
    guardrailTimes,
  };
}

function planeOf(url: string): Plane {
  if (url.startsWith('/v1/')) return 'inference';
  return url.startsWith('/api/') ? 'management' : 'operations';
}
