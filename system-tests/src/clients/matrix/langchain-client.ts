import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { collector } from './collector.ts';
import type { MatrixClient, Target } from './matrix-client.ts';
import { type Outcome, PIXEL, promptOf, resultOf, type Scenario, type StepInput, TOOL } from './scenarios.ts';
import { STEP, STRUCTURE } from './schemas.ts';

const REQUESTS_MAX = 30;

async function joined(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | null = null;
  for await (const chunk of stream) whole = whole === null ? chunk : whole.concat(chunk);
  if (whole === null) throw new Error('an empty stream');
  return whole;
}

async function run(
  useResponsesApi: boolean,
  streaming: boolean,
  target: Target,
  scenario: Scenario,
): Promise<Outcome> {
  const model = new ChatOpenAI({
    model: target.model,
    apiKey: target.token,
    configuration: { baseURL: `${target.url}/v1` },
    maxRetries: 0,
    maxTokens: 4_000,
    useResponsesApi,
    ...(useResponsesApi ? { zdrEnabled: true } : {}),
    ...(scenario === 'thinking' ? { reasoning: { effort: 'low' as const } } : {}),
  });
  const text = { type: 'text', text: promptOf(scenario) };
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
  const messages: BaseMessage[] = [
    new SystemMessage('Be brief.'),
    new HumanMessage({ content: scenario === 'image' ? [text, image] : [text] }),
  ];
  if (scenario === 'structured') {
    const structured = model.withStructuredOutput(STRUCTURE, { name: 'answer', method: 'jsonSchema' });
    return { text: JSON.stringify(await structured.invoke(messages)), inputs: [] };
  }
  const { inputs } = collector();
  const lookUp = tool((input: StepInput) => resultOf(input), {
    name: TOOL,
    description: 'Looks it up.',
    schema: STEP,
  });
  const bound = scenario === 'image' ? model : model.bindTools([lookUp]);
  for (let request = 0; request < REQUESTS_MAX; request += 1) {
    const said = streaming ? await joined(await bound.stream(messages)) : await bound.invoke(messages);
    const calls = said.tool_calls ?? [];
    if (calls.length === 0) return { text: said.text, inputs };
    messages.push(said);
    for (const { id = '', args } of calls) {
      inputs.push(args as StepInput);
      messages.push(new ToolMessage({ content: await lookUp.invoke(args as StepInput), tool_call_id: id }));
    }
  }
  throw new Error('the model did not stop');
}

export const langchainClients: readonly MatrixClient[] = [false, true].flatMap((responses) =>
  [false, true].map(
    (streaming): MatrixClient => ({
      name: `langchain ${responses ? 'responses' : 'chat'}${streaming ? ', streaming' : ''}`,
      protocol: responses ? 'responses' : 'chat',
      scenarios: ['tools', 'structured', 'image', 'thinking'],
      run: (target, scenario) => run(responses, streaming, target, scenario),
    }),
  ),
);
