import { FORBIDDEN_WORD, type GuardrailServiceName, guardrailServices } from '@relay/provider-sim';
import {
  type Behaviour,
  type Cell,
  type Expected,
  type Guard,
  guard,
  LATE_MS,
  type Operation,
  passes,
  REPLACEMENT,
  type Stage,
  type Target,
  type Verdict,
} from './cell.ts';

const STAGES = ['pre_dispatch', 'post_response'] as const;
const TARGETS = ['lane', 'provider', 'endpoint', 'global'] as const;
const INSPECTED = ['chat', 'responses'] as const;

const VERDICTS = { allow: 'allowed', flag: 'flagged', block: 'blocked' } as const;

/** What goes wrong, what the record calls it, and what the guardrail is set to so that it does. */
const FAILURES: readonly (readonly [Behaviour, string, object?])[] = [
  ['hang', 'timeout', { timeout_ms: LATE_MS }],
  ['drip', 'timeout', { timeout_ms: LATE_MS }],
  ['refused', 'unreachable'],
  ['reset', 'unreachable'],
  ['status-500', 'bad_status'],
  ['redirect', 'bad_status'],
  ['malformed', 'malformed'],
  ['website', 'malformed'],
  ['status-204', 'malformed'],
  ['cut', 'malformed'],
  ['oversized', 'too_large'],
  ['unknown', 'no_rule_matched'],
  ['allow', 'too_large', { max_request_bytes: 60 }],
];

/** What a verdict does to a request at this stage. */
export function expectedOf(stage: Stage, verdict: Verdict, cause: string | null, isOpen: boolean): Expected {
  const said = [{ guard: 0, stage, verdict, cause }];
  const refused = verdict === 'blocked' || (verdict === 'unavailable' && !isOpen);
  if (!refused) return { ...passes, said };
  return {
    status: verdict === 'blocked' ? 403 : 503,
    code: verdict === 'blocked' ? 'content_policy_violation' : 'guardrail_unavailable',
    refusedBy: { guard: 0, stage },
    // The provider ran before its response could be checked.
    dispatches: stage === 'pre_dispatch' ? 0 : 1,
    said,
  };
}

function verdictCells(): Cell[] {
  return TARGETS.flatMap((target) =>
    STAGES.flatMap((stage) =>
      INSPECTED.flatMap((operation) => [
        ...Object.entries(VERDICTS).map(([behaviour, verdict]) =>
          cellOf(
            operation,
            guard(behaviour as Behaviour, stage, { target }),
            expectedOf(stage, verdict, null, false),
          ),
        ),
        ...(stage === 'post_response' ? [replacing(operation, target)] : []),
      ]),
    ),
  );
}

function replacing(operation: Operation, target: Target): Cell {
  const rules = [
    { path: '$.verdict', operator: 'equals', value: 'flag', action: 'replace', replacement: REPLACEMENT },
  ];
  const expected = expectedOf('post_response', 'replaced', null, false);
  const replaces = guard('flag', 'post_response', { target, more: { response_rules: rules } });
  return {
    ...cellOf(operation, replaces, { ...expected, replacement: REPLACEMENT }),
    name: `post_response · replace · ${operation} · ${target}`,
  };
}

function failureCells(): Cell[] {
  return FAILURES.flatMap(([behaviour, cause, more = {}]) =>
    STAGES.flatMap((stage) =>
      (['fail_closed', 'fail_open'] as const).flatMap((mode) => {
        const expected = expectedOf(stage, 'unavailable', cause, mode === 'fail_open');
        const on = (operation: Operation, target: Target) => {
          const cell = cellOf(
            operation,
            guard(behaviour, stage, { target, mode, more: { ...more } }),
            expected,
          );
          return { ...cell, name: `${cause}: ${cell.name} · ${mode}` };
        };
        // Bound to the endpoint, it is asked while capacity is held.
        return [...INSPECTED.map((operation) => on(operation, 'lane')), on('chat', 'endpoint')];
      }),
    ),
  );
}

/** A stream and an embedding that a guardrail would have to see, whatever the guardrail would have said. */
function uninspectableCells(): Cell[] {
  return TARGETS.flatMap((target) =>
    STAGES.flatMap((stage) =>
      (['chat', 'responses', 'embeddings'] as const).map((operation): Cell => {
        const streaming = operation !== 'embeddings';
        return {
          ...cellOf(operation, guard('allow', stage, { target }), {
            status: 400,
            code: streaming ? 'guardrail_streaming_unsupported' : 'guardrail_route_kind_unsupported',
            param: streaming ? 'stream' : 'model',
            dispatches: 0,
            said: [],
          }),
          name: `${stage} · ${operation}${streaming ? ' stream' : ''} · ${target} → 400`,
          streaming,
        };
      }),
    ),
  );
}

/** A guardrail that is disabled, or bound to another target, checks nothing. */
function unguardedCells(): Cell[] {
  const ways = [
    ['chat', false],
    ['chat', true],
    ['responses', false],
    ['responses', true],
    ['embeddings', false],
  ] as const;
  return (['guardrail disabled', 'binding disabled', 'bound elsewhere'] as const).flatMap((off) =>
    ways.map(([operation, streaming]) => ({
      ...cellOf(operation, guard('block', 'pre_dispatch', { off }), passes),
      name: `${off} · ${operation}${streaming ? ' stream' : ''} passes`,
      streaming,
    })),
  );
}

/** Each preset against its service: what is fine, and what is not. */
function presetCells(): Cell[] {
  const services = Object.keys(guardrailServices) as GuardrailServiceName[];
  return services.flatMap((service) =>
    STAGES.flatMap((stage) =>
      ([false, true] as const).map((bad): Cell => {
        const expected = expectedOf(stage, bad ? 'blocked' : 'allowed', null, false);
        const words = bad ? `something ${FORBIDDEN_WORD}` : 'something harmless';
        const message = { role: 'assistant', content: words };
        const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
        const body = { id: 'c', object: 'chat.completion', choices: [{ index: 0, message }], usage };
        return {
          ...cellOf('chat', guard(`service ${service}`, stage), expected),
          name: `${stage} · ${service} · ${bad ? 'blocked' : 'allowed'}`,
          ...(stage === 'pre_dispatch' ? { words } : { fault: { body } }),
        };
      }),
    ),
  );
}

function cellOf(operation: Operation, one: Guard, expected: Expected): Cell {
  const name = `${one.stages.join(' and ')} · ${one.behaviour} · ${operation} · ${one.target}`;
  return { name, operation, streaming: false, guards: [one], expected };
}

export const tableCells: readonly Cell[] = [
  ...verdictCells(),
  ...failureCells(),
  ...uninspectableCells(),
  ...unguardedCells(),
  ...presetCells(),
];
