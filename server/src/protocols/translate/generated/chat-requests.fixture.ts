import fc from 'fast-check';
import { asJson, base64, callId, input, maybe, schema, toolName, url, words } from './words.fixture.ts';

const prompt_cache_breakpoint = maybe(fc.constant({ mode: 'explicit' }));
const text = fc.record({ type: fc.constant('text'), text: words, prompt_cache_breakpoint });
const texts = fc.oneof(words, fc.array(text, { minLength: 1, maxLength: 2 }));
const image = fc.record({
  type: fc.constant('image_url'),
  image_url: fc.record({
    url: fc.oneof(
      url,
      fc
        .tuple(fc.constantFrom('image/png', 'image/jpeg', 'image/gif', 'image/webp'), base64)
        .map(([type, data]) => `data:${type};base64,${data}`),
    ),
    detail: maybe(fc.constantFrom('auto', 'low', 'high')),
  }),
  prompt_cache_breakpoint,
});
const file = fc.record({
  type: fc.constant('file'),
  file: fc.record({
    file_data: fc.oneof(
      base64.map((data) => `data:application/pdf;base64,${data}`),
      words.map((said) => `data:text/plain;base64,${Buffer.from(said).toString('base64')}`),
    ),
    filename: maybe(words),
  }),
});
const part = fc.oneof(text, image, file);
const system = fc.record({ role: fc.constantFrom('system', 'developer'), content: texts });
const call = fc.tuple(callId, toolName, input).map(([id, name, given]) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(given) },
}));

const exchange = fc
  .record({
    question: fc.oneof(words, fc.array(part, { minLength: 1, maxLength: 3 })),
    instruction: maybe(system),
    instructionFirst: fc.boolean(),
    answer: fc.oneof(texts, fc.constant(null)),
    refusal: maybe(words),
    reasoning_content: maybe(words),
    calls: fc.array(call, { maxLength: 3 }),
    results: fc.array(texts, { minLength: 3, maxLength: 3 }),
    more: maybe(words),
  })
  .map(({ question, instruction, instructionFirst, answer, calls, results, more, ...rest }) => {
    const user = { role: 'user', content: question };
    const instructions = instruction === undefined ? [] : [instruction];
    const content = answer ?? (calls.length === 0 ? 'Nothing.' : null);
    const tools = calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: results[index] }));
    return [
      ...(instructionFirst ? [...instructions, user] : [user, ...instructions]),
      { role: 'assistant', content, ...rest, tool_calls: calls.length === 0 ? undefined : calls },
      ...tools,
      ...(more === undefined ? [] : [{ role: 'user', content: more }]),
      ...(calls.length === 0 && more === undefined ? [] : [{ role: 'assistant', content: 'Well.' }]),
    ];
  });

const settings = {
  max_tokens: maybe(fc.integer({ min: 1, max: 100_000 })),
  max_completion_tokens: maybe(fc.integer({ min: 1, max: 100_000 })),
  stop: maybe(fc.oneof(words, fc.array(words, { minLength: 1, maxLength: 4 }))),
  stream: maybe(fc.boolean()),
  stream_options: maybe(
    fc.record({ include_usage: maybe(fc.boolean()), include_obfuscation: maybe(fc.boolean()) }),
  ),
  temperature: maybe(fc.integer({ min: 0, max: 100 }).map((value) => value / 100)),
  top_p: maybe(fc.integer({ min: 0, max: 100 }).map((value) => value / 100)),
  reasoning_effort: maybe(fc.constantFrom('none', 'low', 'medium', 'high', 'xhigh', 'max', null)),
  response_format: maybe(
    fc.oneof(
      fc.constant({ type: 'text' }),
      fc.record({
        type: fc.constant('json_schema'),
        json_schema: fc.record({
          name: toolName,
          schema,
          strict: maybe(fc.boolean()),
          description: maybe(words),
        }),
      }),
    ),
  ),
  service_tier: maybe(fc.constantFrom('auto', 'default')),
  metadata: maybe(fc.record({ a: words })),
  user: maybe(words),
  safety_identifier: maybe(words),
  prompt_cache_key: maybe(words),
  prediction: maybe(fc.record({ type: fc.constant('content'), content: words })),
  n: maybe(fc.constantFrom(1, null)),
  logprobs: maybe(fc.constantFrom(false, null)),
  frequency_penalty: maybe(fc.constant(0)),
  presence_penalty: maybe(fc.constant(0)),
  store: maybe(fc.constant(false)),
};

const tools = fc.array(
  fc.record({
    type: fc.constant('function'),
    function: fc.record({
      name: toolName,
      description: maybe(words),
      parameters: maybe(schema),
      strict: maybe(fc.boolean()),
    }),
  }),
  { minLength: 1, maxLength: 3 },
);

export const chatRequests: fc.Arbitrary<unknown> = fc
  .record({
    model: fc.constant('lane'),
    messages: fc
      .tuple(
        fc.array(system, { maxLength: 2 }),
        fc.array(exchange, { maxLength: 3 }),
        fc.array(part, { minLength: 1, maxLength: 2 }),
      )
      .map(([first, exchanges, content]) => [...first, ...exchanges.flat(), { role: 'user', content }]),
    ...settings,
    tools: maybe(tools),
    choice: maybe(fc.constantFrom('auto', 'none', 'required', 'function')),
    parallel_tool_calls: maybe(fc.boolean()),
  })
  .map(({ choice, ...request }) => {
    const name = request.tools?.[0]?.function.name;
    if (name === undefined) return { ...request, parallel_tool_calls: undefined };
    return {
      ...request,
      tool_choice: choice === 'function' ? { type: 'function', function: { name } } : choice,
    };
  })
  .map(asJson);
