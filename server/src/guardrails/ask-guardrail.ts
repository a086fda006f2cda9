import type { Guardrail } from '../domain/guardrails/guardrail.ts';
import type { TemplateValues } from '../domain/guardrails/template.ts';
import { type Breaker, createBreaker } from '../kit/breaker.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { type CallDeps, type GuardrailAnswer, makeCall, prepareCall, unasked } from './call-guardrail.ts';
import { createTurns, type Turns } from './turns.ts';

/** The maximum of concurrent calls to one guardrail from one process. */
const CALLS_MAX = 64;
/** About as many as can be served within one or two timeouts; further calls are rejected immediately. */
const WAITING_MAX = 1_024;
const FAILURES_MAX = 10;
const OPEN_MS = 1_000;
/** Above this number of guardrails, idle ones are forgotten, oldest first. */
const GUARDRAILS_MAX = 10_000;

export interface AskDeps extends CallDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Asks on behalf of requests: with a bound on concurrent calls, and not at all while the guardrail is down. */
export type AskGuardrail = (
  organizationId: string,
  guardrail: Guardrail,
  values: TemplateValues,
) => Promise<GuardrailAnswer>;

interface Line {
  readonly turns: Turns;
  readonly breaker: Breaker;
}

export function createAskGuardrail(deps: AskDeps): AskGuardrail {
  const lines = new Map<string, Line>();

  /** A guardrail that moves to another address gets new turns and a new breaker. */
  function lineOf({ id, baseUrl }: Guardrail): Line {
    const key = `${id} ${baseUrl}`;
    const known = lines.get(key);
    if (known !== undefined) return known;
    const breaker = createBreaker({
      clock: deps.clock,
      failuresMax: FAILURES_MAX,
      openMs: OPEN_MS,
      onChange: (state) =>
        deps.log.warn(
          { guardrail_id: id, circuit: state },
          'the circuit breaker of a guardrail changed state',
        ),
    });
    const line = { turns: createTurns(CALLS_MAX, WAITING_MAX), breaker };
    lines.set(key, line);
    for (const [oldest, { turns }] of lines) {
      if (lines.size <= GUARDRAILS_MAX) break;
      if (oldest !== key && turns.size() === 0) lines.delete(oldest);
    }
    return line;
  }

  return async (organizationId, guardrail, values) => {
    const call = prepareCall(guardrail, values);
    if (typeof call === 'string') return unasked(call, 0);
    const { turns, breaker } = lineOf(guardrail);
    const startMs = deps.clock.monotonicMs();
    const elapsedMs = () => deps.clock.monotonicMs() - startMs;
    if (breaker.state() === 'open') return unasked('circuit_open', 0);
    const turn = turns.take(guardrail.timeoutMs);
    if (!(turn instanceof Promise ? await turn : turn)) return unasked('busy', elapsedMs());
    try {
      // Asked only with a turn: a caller that may probe has to report the outcome, and a waiting one might never call.
      if (!breaker.tryPass()) return unasked('circuit_open', elapsedMs());
      const leftMs = guardrail.timeoutMs - elapsedMs();
      const answer = await makeCall(deps, guardrail, call, organizationId, values.stage, leftMs);
      if (isDown(answer)) breaker.failed();
      else breaker.succeeded();
      return { ...answer, latencyMs: elapsedMs() };
    } finally {
      turns.giveBack();
    }
  };
}

/** A guardrail that answers with anything but a server error is not down. */
function isDown({ cause, received }: GuardrailAnswer): boolean {
  if (cause === 'timeout' || cause === 'unreachable') return true;
  return cause === 'bad_status' && received !== null && received.status >= 500;
}
