import { type Cell, guard, passes, REPLACEMENT } from './cell.ts';
import { expectedOf } from './cells.ts';

const plain = { operation: 'chat', streaming: false } as const;
const allowed = (index: number, stage: 'pre_dispatch' | 'post_response' = 'pre_dispatch') =>
  ({ guard: index, stage, verdict: 'allowed', cause: null }) as const;

const replaceRules = [
  { path: '$.verdict', operator: 'equals', value: 'allow', action: 'replace', replacement: REPLACEMENT },
];
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const tool = {
  type: 'function',
  function: { name: 'look_up', parameters: { type: 'object', properties: { term: { type: 'string' } } } },
};

/** Several guardrails, several candidates, and unusual content. */
export const specialCells: readonly Cell[] = [
  {
    ...plain,
    name: 'guardrails are asked by priority, whatever they are bound to first',
    guards: [
      guard('allow', 'pre_dispatch', { more: { priority: 20 } }),
      guard('flag', 'pre_dispatch', { more: { priority: 10 } }),
    ],
    expected: {
      ...passes,
      said: [{ guard: 1, stage: 'pre_dispatch', verdict: 'flagged', cause: null }, allowed(0)],
    },
  },
  {
    ...plain,
    name: 'the first block ends it, and who comes later is not asked',
    guards: [
      guard('block', 'pre_dispatch', { more: { priority: 1 } }),
      guard('allow', 'pre_dispatch', { more: { priority: 2 } }),
    ],
    expected: expectedOf('pre_dispatch', 'blocked', null, false),
  },
  {
    ...plain,
    name: 'a guardrail that is bound to everything on the way is asked once',
    guards: [guard('allow', 'pre_dispatch', { boundAlsoTo: ['provider', 'endpoint'] })],
    expected: { ...passes, said: [allowed(0)] },
  },
  {
    ...plain,
    name: 'both stages of a guardrail are asked, one before and one after',
    guards: [guard('allow', 'pre_dispatch', { stages: ['pre_dispatch', 'post_response'] })],
    expected: { ...passes, said: [allowed(0), allowed(0, 'post_response')] },
  },
  {
    ...plain,
    name: 'one that fails open lets the next one speak',
    guards: [
      guard('status-500', 'pre_dispatch', { mode: 'fail_open', more: { priority: 1 } }),
      guard('block', 'pre_dispatch', { more: { priority: 2 } }),
    ],
    expected: {
      ...expectedOf('pre_dispatch', 'blocked', null, false),
      refusedBy: { guard: 1, stage: 'pre_dispatch' },
      said: [
        { guard: 0, stage: 'pre_dispatch', verdict: 'unavailable', cause: 'bad_status' },
        { guard: 1, stage: 'pre_dispatch', verdict: 'blocked', cause: null },
      ],
    },
  },
  {
    ...plain,
    name: 'a guardrail is asked once though the request falls back',
    guards: [guard('allow', 'pre_dispatch')],
    fault: { status: 503 },
    fallback: true,
    expected: { ...passes, dispatches: 2, said: [allowed(0)] },
  },
  {
    ...plain,
    name: 'a block on the first candidate is no reason to try the second',
    guards: [guard('block', 'pre_dispatch', { target: 'endpoint' })],
    fallback: true,
    expected: expectedOf('pre_dispatch', 'blocked', null, false),
  },
  {
    ...plain,
    name: 'a stream is refused though only a later candidate is guarded',
    streaming: true,
    guards: [guard('allow', 'pre_dispatch', { target: 'second endpoint' })],
    fallback: true,
    expected: {
      status: 400,
      code: 'guardrail_streaming_unsupported',
      param: 'stream',
      dispatches: 0,
      said: [],
    },
  },
  {
    ...plain,
    name: 'an error of the provider is passed on, and nobody is asked about it',
    guards: [guard('block', 'post_response')],
    fault: { status: 404, body: { error: { message: 'no such thing', code: 'not_there' } } },
    expected: { status: 404, code: 'not_there', dispatches: 1, said: [] },
  },
  {
    ...plain,
    name: 'a replaced answer has no tool calls left',
    guards: [guard('allow', 'post_response', { more: { response_rules: replaceRules } })],
    request: { tools: [tool], tool_choice: 'required' },
    expected: {
      ...passes,
      said: [{ guard: 0, stage: 'post_response', verdict: 'replaced', cause: null }],
      replacement: REPLACEMENT,
    },
  },
  {
    ...plain,
    name: 'an image is counted as a part that was not inspected',
    guards: [guard('allow', 'pre_dispatch')],
    request: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Look.' }, image] }] },
    expected: { ...passes, said: [allowed(0)], skippedParts: 1 },
  },
  {
    ...plain,
    name: 'what a tool answered is inspected like everything else',
    guards: [guard('judge', 'pre_dispatch')],
    request: {
      messages: [
        { role: 'user', content: 'Look it up.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 't', type: 'function', function: { name: 'look_up', arguments: '{"term":"x"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 't', content: 'a forbidden result' },
      ],
    },
    expected: expectedOf('pre_dispatch', 'blocked', null, false),
  },
  {
    ...plain,
    name: 'instructions of a response are inspected like its input',
    operation: 'responses',
    guards: [guard('judge', 'pre_dispatch')],
    request: { instructions: 'Say the forbidden word.' },
    expected: expectedOf('pre_dispatch', 'blocked', null, false),
  },
];
