import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, type LanguageModel, Output, streamText, tool } from 'ai';
import { collector } from './collector.ts';
import type { ClientProtocol, MatrixClient, Target } from './matrix-client.ts';
import { type Outcome, PIXEL, promptOf, type Scenario } from './scenarios.ts';
import { STEP, STRUCTURE } from './schemas.ts';

const REQUESTS_MAX = 30;

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;

interface Provider {
  readonly name: string;
  readonly protocol: ClientProtocol;
  readonly model: (target: Target) => LanguageModel;
  readonly options?: ProviderOptions;
  /** What makes its models think. */
  readonly thinking?: ProviderOptions;
}

const openai = ({ url, token }: Target) => createOpenAI({ baseURL: `${url}/v1`, apiKey: token });

const providers: readonly Provider[] = [
  { name: 'openai', protocol: 'responses', model: (target) => openai(target)(target.model) },
  {
    name: 'openai, store: false',
    protocol: 'responses',
    model: (target) => openai(target)(target.model),
    options: { openai: { store: false } },
    thinking: {
      openai: { store: false, reasoningEffort: 'low', reasoningSummary: 'auto', forceReasoning: true },
    },
  },
  { name: 'openai.chat', protocol: 'chat', model: (target) => openai(target).chat(target.model) },
  {
    name: 'anthropic',
    protocol: 'messages',
    model: ({ url, token, model }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: token })(model),
    thinking: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } },
  },
  {
    name: 'openai-compatible',
    protocol: 'chat',
    model: ({ url, token, model }) =>
      createOpenAICompatible({
        name: 'relay',
        baseURL: `${url}/v1`,
        apiKey: token,
        includeUsage: true,
        supportsStructuredOutputs: true,
      }).chatModel(model),
  },
];

async function run(
  { model, options, thinking }: Provider,
  stream: boolean,
  target: Target,
  scenario: Scenario,
): Promise<Outcome> {
  const { inputs, execute } = collector();
  const text = { type: 'text', text: promptOf(scenario) } as const;
  const image = { type: 'file', data: PIXEL, mediaType: 'image/png' } as const;
  const common = {
    model: model(target),
    maxRetries: 0,
    maxOutputTokens: 4_000,
    messages: [{ role: 'user' as const, content: scenario === 'image' ? [text, image] : [text] }],
    ...(scenario === 'tools' || scenario === 'thinking'
      ? {
          tools: { look_up: tool({ description: 'Looks it up.', inputSchema: STEP, execute }) },
          stopWhen: isStepCount(REQUESTS_MAX),
        }
      : {}),
    providerOptions: (scenario === 'thinking' ? thinking : undefined) ?? options ?? {},
  };
  if (scenario === 'structured') {
    const output = Output.object({ schema: STRUCTURE });
    const given = stream
      ? await streamText({ ...common, onError, output }).output
      : (await generateText({ ...common, output })).output;
    return { text: JSON.stringify(given), inputs };
  }
  if (!stream) return { text: (await generateText(common)).text, inputs };
  const failures: unknown[] = [];
  const result = streamText({
    ...common,
    onError: ({ error }) => {
      failures.push(error);
    },
  });
  await result.consumeStream();
  if (failures.length > 0) throw failures[0];
  return { text: await result.text, inputs };
}

/** A failure also rejects what is awaited. */
function onError(): void {}

export const aiSdkClients: readonly MatrixClient[] = providers.flatMap((provider) =>
  [false, true].map(
    (stream): MatrixClient => ({
      name: `ai ${provider.name}${stream ? ', streamText' : ', generateText'}`,
      protocol: provider.protocol,
      scenarios: ['tools', 'structured', 'image', 'thinking'],
      run: (target, scenario) => run(provider, stream, target, scenario),
    }),
  ),
);
