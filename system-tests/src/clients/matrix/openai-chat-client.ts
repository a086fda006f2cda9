import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { collector } from './collector.ts';
import type { MatrixClient, Target } from './matrix-client.ts';
import { type Outcome, PIXEL, promptOf, resultOf, type Scenario, type StepInput, TOOL } from './scenarios.ts';
import { STRUCTURE, TOOL_SCHEMA } from './schemas.ts';

const REQUESTS_MAX = 30;

const clientOf = ({ url, token }: Target) =>
  new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });

function bodyOf({ model }: Target, scenario: Scenario): OpenAI.ChatCompletionCreateParamsNonStreaming {
  const text = promptOf(scenario);
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } } as const;
  const content = scenario === 'image' ? [{ type: 'text' as const, text }, image] : text;
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content },
  ];
  const tool = { name: TOOL, description: 'Looks it up.', parameters: TOOL_SCHEMA };
  return {
    model,
    messages,
    max_completion_tokens: 4_000,
    ...(scenario === 'structured' ? { response_format: zodResponseFormat(STRUCTURE, 'answer') } : {}),
    ...(scenario === 'tools' || scenario === 'thinking'
      ? { tools: [{ type: 'function', function: tool }] }
      : {}),
    ...(scenario === 'thinking' ? { reasoning_effort: 'low' } : {}),
  };
}

/** The library parses the calls of strict tools only. */
function strict(
  body: OpenAI.ChatCompletionCreateParamsNonStreaming,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  const marked = body.tools?.map((tool) =>
    tool.type === 'function' ? { ...tool, function: { ...tool.function, strict: true } } : tool,
  );
  return marked === undefined ? body : { ...body, tools: marked };
}

/** A loop as its users write it: what the library returned goes back as it is. */
function loop(
  name: string,
  ask: (
    client: OpenAI,
    body: OpenAI.ChatCompletionCreateParamsNonStreaming,
  ) => Promise<OpenAI.ChatCompletion>,
): MatrixClient {
  return {
    name,
    protocol: 'chat',
    scenarios: ['tools', 'structured', 'image', 'thinking'],
    async run(target, scenario) {
      const client = clientOf(target);
      const body = bodyOf(target, scenario);
      const inputs: StepInput[] = [];
      for (let request = 0; request < REQUESTS_MAX; request += 1) {
        const { choices } = await ask(client, body);
        const message = choices[0]?.message;
        if (message === undefined) throw new Error('no choice');
        if (message.tool_calls === undefined || message.tool_calls.length === 0)
          return { text: message.content ?? '', inputs };
        body.messages.push(message);
        for (const call of message.tool_calls) {
          if (call.type !== 'function') throw new Error(`a call of the type ${call.type}`);
          const input = JSON.parse(call.function.arguments) as StepInput;
          inputs.push(input);
          body.messages.push({ role: 'tool', tool_call_id: call.id, content: resultOf(input) });
        }
      }
      throw new Error('the model did not stop');
    },
  };
}

async function runTools(target: Target, scenario: Scenario, stream: boolean): Promise<Outcome> {
  const { inputs, execute } = collector();
  const tool = {
    type: 'function',
    function: {
      name: TOOL,
      description: 'Looks it up.',
      parameters: TOOL_SCHEMA,
      parse: (text: string) => JSON.parse(text) as StepInput,
      function: execute,
    },
  } as const;
  const { completions } = clientOf(target).chat;
  const body = { ...bodyOf(target, scenario), tools: [tool] };
  const options = { maxChatCompletions: REQUESTS_MAX };
  const runner = stream
    ? completions.runTools({ ...body, stream }, options)
    : completions.runTools({ ...body, stream }, options);
  return { text: (await runner.finalContent()) ?? '', inputs };
}

export const openaiChatClients: readonly MatrixClient[] = [
  loop('openai chat.completions', (client, body) => client.chat.completions.create(body)),
  loop('openai chat.completions.parse', (client, body) => client.chat.completions.parse(strict(body))),
  loop('openai chat.completions.stream', (client, body) =>
    client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion(),
  ),
  ...[false, true].map(
    (stream): MatrixClient => ({
      name: `openai runTools${stream ? ', streaming' : ''}`,
      protocol: 'chat',
      scenarios: ['tools', 'thinking'],
      run: (target, scenario) => runTools(target, scenario, stream),
    }),
  ),
];
