import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { MatrixClient, Target } from './matrix-client.ts';
import { PIXEL, promptOf, resultOf, type Scenario, type StepInput, TOOL } from './scenarios.ts';
import { STRUCTURE, TOOL_SCHEMA } from './schemas.ts';

const REQUESTS_MAX = 30;

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming & {
  input: OpenAI.Responses.ResponseInputItem[];
};

function bodyOf({ model }: Target, scenario: Scenario): Body {
  const text = promptOf(scenario);
  const image = { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PIXEL}` } as const;
  const content = scenario === 'image' ? [{ type: 'input_text' as const, text }, image] : text;
  const tool = {
    type: 'function',
    name: TOOL,
    description: 'Looks it up.',
    parameters: TOOL_SCHEMA,
    strict: true,
  } as const;
  return {
    model,
    instructions: 'Be brief.',
    input: [{ role: 'user', content }],
    max_output_tokens: 4_000,
    store: false,
    ...(scenario === 'structured' ? { text: { format: zodTextFormat(STRUCTURE, 'answer') } } : {}),
    ...(scenario === 'tools' || scenario === 'thinking' ? { tools: [tool] } : {}),
    ...(scenario === 'thinking'
      ? { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] }
      : {}),
  };
}

function loop(
  name: string,
  ask: (client: OpenAI, body: Body) => Promise<OpenAI.Responses.Response>,
): MatrixClient {
  return {
    name,
    protocol: 'responses',
    scenarios: ['tools', 'structured', 'image', 'thinking'],
    async run(target, scenario) {
      const client = new OpenAI({ apiKey: target.token, baseURL: `${target.url}/v1`, maxRetries: 0 });
      const body = bodyOf(target, scenario);
      const inputs: StepInput[] = [];
      for (let request = 0; request < REQUESTS_MAX; request += 1) {
        const { output, output_text } = await ask(client, body);
        const calls = output.filter((item) => item.type === 'function_call');
        if (calls.length === 0) return { text: output_text, inputs };
        // Not every type of an output item is one of an input item, though the items are.
        body.input.push(...(output as OpenAI.Responses.ResponseInputItem[]));
        for (const call of calls) {
          const input = JSON.parse(call.arguments) as StepInput;
          inputs.push(input);
          body.input.push({ type: 'function_call_output', call_id: call.call_id, output: resultOf(input) });
        }
      }
      throw new Error('the model did not stop');
    },
  };
}

export const openaiResponsesClients: readonly MatrixClient[] = [
  loop('openai responses', (client, body) => client.responses.create(body)),
  loop('openai responses.parse', (client, body) => client.responses.parse(body)),
  loop('openai responses.stream', (client, body) =>
    client.responses.stream({ ...body, stream: true }).finalResponse(),
  ),
];
