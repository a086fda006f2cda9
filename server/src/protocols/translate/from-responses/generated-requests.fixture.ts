import fc from 'fast-check';

/** Requests of Responses clients with what either pair carries or leaves out; some have values that one of them cannot say. */
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/);
const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => text.trim() !== '');
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });
const breakpoint = maybe(fc.constant({ mode: 'explicit' }));

const schema = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(word, fc.record({ type: fc.constantFrom('string', 'number') }), { maxKeys: 3 }),
  additionalProperties: fc.constant(false),
});

const inputText = fc.record({
  type: fc.constant('input_text'),
  text: words,
  prompt_cache_breakpoint: breakpoint,
});
const inputImage = fc.record({
  type: fc.constant('input_image'),
  image_url: fc.constantFrom('https://a.example/x.png', 'data:image/png;base64,iVBORw0KGgo='),
  detail: maybe(fc.constantFrom('auto', 'low', 'high')),
});
const inputFile = fc.record({
  type: fc.constant('input_file'),
  file_data: fc.constantFrom('data:application/pdf;base64,JVBERi0=', 'data:text/plain;base64,SGk='),
  filename: maybe(words),
  detail: maybe(fc.constant('low')),
});
const parts = fc.array(fc.oneof({ weight: 3, arbitrary: inputText }, inputImage, inputFile), {
  minLength: 1,
  maxLength: 3,
});
const itemId = maybe(word);
const status = maybe(fc.constantFrom('completed', 'incomplete'));

const userMessage = fc.record({
  type: maybe(fc.constant('message')),
  role: fc.constant('user'),
  content: fc.oneof(words, parts),
  id: itemId,
});
const developerMessage = fc.record({
  type: fc.constant('message'),
  role: fc.constantFrom('developer', 'system'),
  content: fc.oneof(words, fc.array(inputText, { minLength: 1, maxLength: 2 })),
});
const assistantMessage = fc.record({
  type: fc.constant('message'),
  role: fc.constant('assistant'),
  content: fc.array(
    fc.oneof(
      fc.record({
        type: fc.constant('output_text'),
        text: words,
        annotations: maybe(fc.constantFrom([], [{ type: 'file_path' }])),
        logprobs: maybe(fc.constant([])),
      }),
      fc.record({ type: fc.constant('refusal'), refusal: words }),
    ),
    { minLength: 1, maxLength: 2 },
  ),
  id: itemId,
  status,
  phase: maybe(fc.constant('commentary')),
});
const reasoning = fc.record({
  type: fc.constant('reasoning'),
  id: itemId,
  summary: fc.constantFrom([], [{ type: 'summary_text', text: 'Hm.' }]),
  content: fc.constant(null),
  encrypted_content: fc.constantFrom(
    'gAAA',
    'relay-seal-2:maker:thinking:c2ln',
    'relay-seal-2:maker:redacted_thinking:ZGF0YQ',
  ),
});

const call = fc.oneof(
  fc.record({
    type: fc.constant('function_call'),
    name: word,
    namespace: maybe(word),
    arguments: fc.oneof(fc.constantFrom('', '{}', '{"a":'), fc.json({ maxDepth: 1 })),
    id: itemId,
    status,
  }),
  fc.record({
    type: fc.constant('custom_tool_call'),
    name: word,
    namespace: maybe(word),
    input: words,
    id: itemId,
  }),
);
const output = fc.oneof(fc.string({ maxLength: 9 }), parts);

/** The assistant's turn: perhaps words, then calls, whose results come in another order. */
const assistantTurn = fc
  .record({
    before: fc.array(fc.oneof(reasoning, assistantMessage), { maxLength: 2 }),
    calls: fc.array(fc.tuple(call, output, itemId), { maxLength: 3 }),
    prefix: fc.constantFrom('call_', 'toolu_', 'functions.x:'),
    late: fc.boolean(),
  })
  .map(({ before, calls, prefix, late }) => ({ before, calls, prefix, late }));

const conversation = fc
  .tuple(
    fc.array(developerMessage, { maxLength: 2 }),
    fc.array(fc.tuple(userMessage, maybe(developerMessage), assistantTurn), { maxLength: 3 }),
    fc.array(userMessage, { minLength: 1, maxLength: 2 }),
  )
  .map(([first, turns, last]) => [
    ...first,
    ...turns.flatMap(([user, developer, { before, calls, prefix, late }], turn) => {
      const ids = calls.map((_call, index) => `${prefix}${turn}_${index}`);
      const made = calls.map(([item], index) => ({ ...item, call_id: ids[index] }));
      const results = calls.map(([item, said, id], index) => ({
        type: `${item.type}_output`,
        call_id: ids[index],
        output: said,
        id,
      }));
      const said = late ? results.toReversed() : results;
      return [user, ...(developer === undefined ? [] : [developer]), ...before, ...made, ...said];
    }),
    ...last,
  ]);

const functionTool = fc
  .record({
    type: fc.constant('function'),
    name: word,
    description: maybe(words),
    parameters: fc.oneof(schema, fc.constant(null)),
    strict: fc.constantFrom(true, false, null),
    output_schema: maybe(schema),
    defer_loading: maybe(fc.boolean()),
  })
  // Without parameters there is nothing to be strict about.
  .map((tool) => (tool.parameters === null ? { ...tool, strict: undefined } : tool));
const customTool = fc.record({
  type: fc.constant('custom'),
  name: word,
  description: maybe(words),
  format: maybe(
    fc.constantFrom({ type: 'text' }, { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }),
  ),
});
const named = { selector: ({ name }: { readonly name: string }) => name };
const simpleTools = fc.uniqueArray(fc.oneof(functionTool, customTool), { ...named, maxLength: 3 });
const namespaces = fc.uniqueArray(
  fc.record({
    type: fc.constant('namespace'),
    name: word.map((name) => `ns_${name}`),
    description: fc.oneof(fc.constant(''), words),
    tools: fc.uniqueArray(fc.oneof(functionTool, customTool), { ...named, minLength: 1, maxLength: 2 }),
  }),
  { ...named, maxLength: 1 },
);

/** Tools, and a choice that fits them. */
const toolSettings = fc
  .tuple(simpleTools, namespaces, fc.nat(), fc.nat(5))
  .map(([simple, spaces, pick, kind]) => {
    const tools = [...simple, ...spaces];
    const one = simple[pick % Math.max(1, simple.length)];
    const reference = one === undefined ? null : { type: one.type, name: one.name };
    const choices = ['auto', 'none', ...(tools.length === 0 ? [] : ['required'])];
    if (reference !== null && kind === 3) return { tools, tool_choice: reference };
    if (reference !== null && kind === 4)
      return { tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [reference] } };
    return { tools, tool_choice: kind === 5 ? undefined : choices[pick % choices.length] };
  });

const format = fc.record({
  type: fc.constant('json_schema'),
  name: word,
  schema,
  description: maybe(words),
  strict: maybe(fc.boolean()),
});

const settings = fc.record({
  instructions: maybe(words),
  max_output_tokens: maybe(fc.integer({ min: 1, max: 30_000 })),
  temperature: maybe(fc.constantFrom(0, 0.5, 1)),
  top_p: maybe(fc.constantFrom(0.1, 1)),
  stream: maybe(fc.boolean()),
  stream_options: maybe(fc.record({ include_obfuscation: fc.boolean() })),
  parallel_tool_calls: maybe(fc.boolean()),
  reasoning: maybe(
    fc.record({
      effort: maybe(fc.constantFrom('none', 'low', 'medium', 'high', 'xhigh', 'max')),
      summary: maybe(fc.constantFrom('auto', 'detailed')),
      context: maybe(fc.constant('all_turns')),
    }),
  ),
  text: maybe(
    fc.record({
      format: maybe(fc.oneof(format, fc.constant({ type: 'text' }))),
      verbosity: maybe(fc.constantFrom('low', 'medium')),
    }),
  ),
  include: maybe(fc.constantFrom([], ['reasoning.encrypted_content'])),
  store: maybe(fc.boolean()),
  background: maybe(fc.constant(false)),
  truncation: maybe(fc.constant('disabled')),
  metadata: maybe(fc.dictionary(word, words, { maxKeys: 2 })),
  client_metadata: maybe(fc.dictionary(word, words, { maxKeys: 2 })),
  prompt_cache_key: maybe(word),
  safety_identifier: maybe(word),
  user: maybe(word),
  service_tier: maybe(fc.constantFrom('auto', 'flex', 'priority')),
  max_tool_calls: maybe(fc.integer({ min: 1, max: 9 })),
});

/** Without members that are `undefined`, as JSON has none. */
export const generatedRequest: fc.Arbitrary<unknown> = fc
  .tuple(settings, toolSettings, fc.oneof(words, conversation))
  .map(([set, tools, input]): unknown =>
    JSON.parse(JSON.stringify({ model: 'lane', input, ...set, ...tools })),
  );
