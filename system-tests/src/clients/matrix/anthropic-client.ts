import Anthropic from '@anthropic-ai/sdk';
import { betaZodOutputFormat, betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { collector } from './collector.ts';
import type { MatrixClient, Target } from './matrix-client.ts';
import { PIXEL, promptOf, resultOf, type Scenario, type StepInput, TOOL } from './scenarios.ts';
import { STEP, STRUCTURE, TOOL_SCHEMA } from './schemas.ts';

const REQUESTS_MAX = 30;

type Body = Anthropic.MessageCreateParamsNonStreaming;

const clientOf = ({ url, token }: Target) => new Anthropic({ apiKey: token, baseURL: url, maxRetries: 0 });

function contentOf(scenario: Scenario) {
  const text = { type: 'text', text: promptOf(scenario) } as const;
  const source = { type: 'base64', media_type: 'image/png', data: PIXEL } as const;
  return scenario === 'image' ? [text, { type: 'image', source } as const] : [text];
}

function bodyOf({ model }: Target, scenario: Scenario): Body {
  return {
    model,
    system: 'Be brief.',
    max_tokens: 4_000,
    messages: [{ role: 'user', content: contentOf(scenario) }],
    ...(scenario === 'structured' ? { output_config: { format: zodOutputFormat(STRUCTURE) } } : {}),
    ...(scenario === 'tools' || scenario === 'thinking'
      ? { tools: [{ name: TOOL, description: 'Looks it up.', input_schema: TOOL_SCHEMA }] }
      : {}),
    ...(scenario === 'thinking' ? { thinking: { type: 'enabled', budget_tokens: 1_024 } } : {}),
  };
}

function loop(
  name: string,
  ask: (client: Anthropic, body: Body) => Promise<Anthropic.Message>,
): MatrixClient {
  return {
    name,
    protocol: 'messages',
    scenarios: ['tools', 'structured', 'image', 'thinking'],
    async run(target, scenario) {
      const client = clientOf(target);
      const body = bodyOf(target, scenario);
      const inputs: StepInput[] = [];
      for (let request = 0; request < REQUESTS_MAX; request += 1) {
        const { content } = await ask(client, body);
        const calls = content.filter((block) => block.type === 'tool_use');
        const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        if (calls.length === 0) return { text, inputs };
        body.messages.push({ role: 'assistant', content });
        const results = calls.map(({ id, input }) => {
          inputs.push(input as StepInput);
          return { type: 'tool_result' as const, tool_use_id: id, content: resultOf(input as StepInput) };
        });
        body.messages.push({ role: 'user', content: results });
      }
      throw new Error('the model did not stop');
    },
  };
}

function toolRunner(stream: boolean): MatrixClient {
  return {
    name: `anthropic beta toolRunner${stream ? ', streaming' : ''}`,
    protocol: 'messages',
    scenarios: ['tools', 'thinking'],
    async run(target, scenario) {
      const { inputs, execute } = collector();
      const tool = betaZodTool({ name: TOOL, description: 'Looks it up.', inputSchema: STEP, run: execute });
      const { model, max_tokens } = bodyOf(target, scenario);
      const runner = clientOf(target).beta.messages.toolRunner({
        model,
        max_tokens,
        stream,
        messages: [{ role: 'user', content: contentOf(scenario) }],
        tools: [tool],
        max_iterations: REQUESTS_MAX,
        ...(scenario === 'thinking' ? { thinking: { type: 'enabled', budget_tokens: 1_024 } } : {}),
      });
      const { content } = await runner.runUntilDone();
      return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), inputs };
    },
  };
}

const betaMessages: MatrixClient = {
  name: 'anthropic beta.messages.parse',
  protocol: 'messages',
  scenarios: ['structured', 'image'],
  async run(target, scenario) {
    const { model, max_tokens } = bodyOf(target, scenario);
    const format =
      scenario === 'structured' ? { output_config: { format: betaZodOutputFormat(STRUCTURE) } } : {};
    const { content } = await clientOf(target).beta.messages.parse({
      model,
      max_tokens,
      messages: [{ role: 'user', content: contentOf(scenario) }],
      ...format,
    });
    return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), inputs: [] };
  },
};

export const anthropicClients: readonly MatrixClient[] = [
  loop('anthropic messages', (client, body) => client.messages.create(body)),
  loop('anthropic messages.parse', (client, body) => client.messages.parse(body)),
  loop('anthropic messages.stream', (client, body) => client.messages.stream(body).finalMessage()),
  toolRunner(false),
  toolRunner(true),
  betaMessages,
];
