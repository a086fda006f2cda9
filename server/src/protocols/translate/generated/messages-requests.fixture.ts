import fc from 'fast-check';
import { asJson, base64, callId, input, maybe, schema, toolName, url, words } from './words.fixture.ts';

/** `both`: only what a chat completion can say too, apart from advisory fields. */
export function messagesRequests(both: boolean): fc.Arbitrary<unknown> {
  const cache_control = maybe(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }));
  const text = fc.record({ type: fc.constant('text'), text: words, cache_control });
  const image = fc.record({
    type: fc.constant('image'),
    source: fc.oneof(
      fc.record({
        type: fc.constant('base64'),
        media_type: fc.constantFrom('image/png', 'image/jpeg', 'image/gif', 'image/webp'),
        data: base64,
      }),
      fc.record({ type: fc.constant('url'), url }),
    ),
    cache_control,
  });
  const pdf = fc.record({
    type: fc.constant('document'),
    source: fc.record({
      type: fc.constant('base64'),
      media_type: fc.constant('application/pdf'),
      data: base64,
    }),
    title: both ? words : maybe(words),
    context: both ? fc.constant(undefined) : maybe(words),
    cache_control,
  });
  const textDocument = fc.record({
    type: fc.constant('document'),
    source: fc.oneof(
      fc.record({ type: fc.constant('text'), media_type: fc.constant('text/plain'), data: words }),
      fc.record({ type: fc.constant('content'), content: fc.array(text, { minLength: 1, maxLength: 2 }) }),
    ),
    title: maybe(words),
    context: maybe(words),
    citations: maybe(fc.constant({ enabled: false })),
  });
  const said = both ? fc.oneof(text, image, pdf) : fc.oneof(text, image, pdf, textDocument);
  const thinking = fc.oneof(
    fc.record({ type: fc.constant('thinking'), thinking: words, signature: words }),
    fc.record({ type: fc.constant('redacted_thinking'), data: words }),
  );
  const resultContent = both
    ? fc.oneof(words, fc.array(text, { minLength: 1, maxLength: 2 }))
    : fc.oneof(words, fc.array(fc.oneof(text, image, pdf), { maxLength: 3 }), fc.constant(undefined));
  const exchange = fc
    .record({
      question: fc.oneof(words, fc.array(said, { minLength: 1, maxLength: 3 })),
      thoughts: fc.array(thinking, { maxLength: 2 }),
      answer: fc.array(text, { minLength: 1, maxLength: 2 }),
      calls: fc.array(fc.record({ id: callId, name: toolName, input, cache_control }), { maxLength: 3 }),
      result: resultContent,
      is_error: both ? fc.constant(undefined) : maybe(fc.boolean()),
      more: fc.array(said, { maxLength: 2 }),
      system: maybe(fc.array(text, { minLength: 1, maxLength: 2 })),
    })
    .map(({ question, thoughts, answer, calls, result, is_error, more, system }) => [
      { role: 'user', content: question },
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      {
        role: 'assistant',
        content: [...thoughts, ...answer, ...calls.map((call) => ({ type: 'tool_use', ...call }))],
      },
      ...(calls.length === 0
        ? []
        : [
            {
              role: 'user',
              content: [
                ...calls.map(({ id }) => ({
                  type: 'tool_result',
                  tool_use_id: id,
                  content: result,
                  is_error,
                })),
                ...more,
              ],
            },
            { role: 'assistant', content: answer },
          ]),
    ]);
  const conversation = fc
    .tuple(fc.array(exchange, { maxLength: 3 }), fc.array(said, { minLength: 1, maxLength: 2 }))
    .map(([exchanges, content]) => [...exchanges.flat(), { role: 'user', content }]);
  return fc
    .record({
      model: fc.constant('lane'),
      max_tokens: fc.integer({ min: 1, max: 200_000 }),
      messages: conversation,
      system: maybe(fc.oneof(words, fc.array(text, { minLength: 1, maxLength: 3 }))),
      stop_sequences: maybe(fc.array(words, { minLength: 1, maxLength: 4 })),
      stream: maybe(fc.constant(true)),
      temperature: maybe(fc.integer({ min: 0, max: 100 }).map((value) => value / 100)),
      top_p: maybe(fc.integer({ min: 0, max: 100 }).map((value) => value / 100)),
      ...toolSettings(cache_control),
      thinking: both
        ? maybe(fc.constant({ type: 'disabled' }))
        : maybe(
            fc.oneof(
              fc.constant({ type: 'disabled' }),
              fc.record({
                type: fc.constant('adaptive'),
                display: maybe(fc.constantFrom('omitted', 'summarized')),
              }),
              fc.record({
                type: fc.constant('enabled'),
                budget_tokens: fc.integer({ min: 1024, max: 60_000 }),
              }),
            ),
          ),
      output_config: maybe(
        fc.record({
          effort: maybe(fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max')),
          format: maybe(fc.record({ type: fc.constant('json_schema'), schema })),
        }),
      ),
      service_tier: maybe(fc.constantFrom('auto', 'standard_only')),
      metadata: maybe(fc.record({ user_id: words })),
      cache_control,
    })
    .map(withChoice)
    .map(asJson);
}

function toolSettings(cache_control: fc.Arbitrary<unknown>) {
  return {
    tools: maybe(
      fc.array(
        fc.record({
          name: toolName,
          description: maybe(words),
          input_schema: schema,
          strict: maybe(fc.boolean()),
          type: maybe(fc.constant('custom')),
          cache_control,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    ),
    tool_choice: maybe(
      fc.record({
        type: fc.constantFrom('auto', 'any', 'tool', 'none'),
        disable_parallel_tool_use: maybe(fc.boolean()),
      }),
    ),
  };
}

/** A choice needs tools, a tool to choose has to be one of them, and without calls none can be parallel. */
function withChoice<
  R extends {
    readonly tools: readonly { readonly name: string }[] | undefined;
    readonly tool_choice:
      | { readonly type: string; readonly disable_parallel_tool_use: boolean | undefined }
      | undefined;
  },
>(request: R): unknown {
  const { tools, tool_choice: choice } = request;
  if (tools === undefined || choice === undefined) return { ...request, tool_choice: undefined };
  if (choice.type === 'none') return { ...request, tool_choice: { type: 'none' } };
  const name = choice.type === 'tool' ? tools[0]?.name : undefined;
  return { ...request, tool_choice: { ...choice, name } };
}
