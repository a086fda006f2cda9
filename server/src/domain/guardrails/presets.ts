import type { GuardrailPreset } from '@relay/contract';
import type { ResponseRule } from './rules.ts';
import type { Template } from './template.ts';

/** The template and rules of a guardrail that has none of its own. */
export type Preset = Omit<GuardrailPreset, 'request_template' | 'response_rules'> & {
  readonly request_template: Template;
  readonly response_rules: readonly ResponseRule[];
};

export const PRESET_SLUG_DEFAULT = 'custom-http';

const bearer = { http_method: 'POST', auth_mode: 'bearer_static', secret_header_name: null } as const;

/** Mistral's categories of harm. Its other categories are topics that an application may be about. */
const MISTRAL_HARM = [
  'sexual',
  'hate_and_discrimination',
  'violence_and_threats',
  'dangerous_and_criminal_content',
  'dangerous',
  'criminal',
  'selfharm',
  'jailbreaking',
];

/** A preset only fills in settings: a guardrail may replace any of them. */
export const guardrailPresets: readonly Preset[] = [
  {
    slug: PRESET_SLUG_DEFAULT,
    name: 'Custom HTTP',
    description:
      'Your own service: it receives the text and returns {"verdict": "allow"}, "block" or "flag".',
    base_url: 'https://guardrail.example.com/check',
    http_method: 'POST',
    auth_mode: 'none',
    secret_header_name: null,
    request_template: {
      text: '{{text}}',
      stage: '{{stage}}',
      operation: '{{operation}}',
      model: '{{model}}',
      request_id: '{{request_id}}',
    },
    response_rules: [
      { path: '$.verdict', operator: 'equals', value: 'block', action: 'block' },
      { path: '$.verdict', operator: 'equals', value: 'flag', action: 'log' },
      { path: '$.verdict', operator: 'equals', value: 'allow', action: 'allow' },
    ],
    documentation: null,
  },
  {
    slug: 'openai-moderation',
    name: 'OpenAI moderation',
    description: 'Blocks what OpenAI’s moderation flags.',
    base_url: 'https://api.openai.com/v1/moderations',
    ...bearer,
    request_template: { model: 'omni-moderation-latest', input: '{{text}}' },
    response_rules: [
      { path: '$.results[*].flagged', operator: 'equals', value: true, action: 'block' },
      { path: '$.results[*].flagged', operator: 'equals', value: false, action: 'allow' },
    ],
    documentation: 'https://platform.openai.com/docs/guides/moderation',
  },
  {
    slug: 'azure-content-safety',
    name: 'Azure AI Content Safety',
    description:
      'Blocks severity 4 (medium) or higher in any category; flags severity 2 (low) or higher. At most 10,000 characters at a time.',
    base_url:
      'https://RESOURCE.cognitiveservices.azure.com/contentsafety/text:analyze?api-version=2024-09-01',
    http_method: 'POST',
    auth_mode: 'header_static',
    secret_header_name: 'Ocp-Apim-Subscription-Key',
    request_template: {
      text: '{{text}}',
      categories: ['Hate', 'SelfHarm', 'Sexual', 'Violence'],
      outputType: 'FourSeverityLevels',
    },
    response_rules: [
      { path: '$.blocklistsMatch[*]', operator: 'exists', action: 'block' },
      { path: '$.categoriesAnalysis[*].severity', operator: 'at_least', value: 4, action: 'block' },
      { path: '$.categoriesAnalysis[*].severity', operator: 'at_least', value: 2, action: 'log' },
      { path: '$.categoriesAnalysis[*].severity', operator: 'at_least', value: 0, action: 'allow' },
    ],
    documentation: 'https://learn.microsoft.com/azure/ai-services/content-safety/quickstart-text',
  },
  {
    slug: 'lakera-guard',
    name: 'Lakera Guard',
    description: 'Blocks what the policy of your Lakera project flags. It screens the last interaction.',
    base_url: 'https://api.lakera.ai/v2/guard',
    ...bearer,
    request_template: { messages: '{{messages}}' },
    response_rules: [
      { path: '$.flagged', operator: 'equals', value: true, action: 'block' },
      { path: '$.flagged', operator: 'equals', value: false, action: 'allow' },
    ],
    documentation: 'https://docs.lakera.ai/api-reference/api/endpoints/guard/screen-content',
  },
  {
    slug: 'mistral-moderation',
    name: 'Mistral moderation',
    description:
      'Blocks harmful content and jailbreak attempts; flags its other categories (health, financial, law, personal data).',
    base_url: 'https://api.mistral.ai/v1/moderations',
    ...bearer,
    request_template: { model: 'mistral-moderation-latest', input: ['{{text}}'] },
    response_rules: [
      ...MISTRAL_HARM.map(
        (category): ResponseRule => ({
          path: `$.results[*].categories.${category}`,
          operator: 'equals',
          value: true,
          action: 'block',
        }),
      ),
      { path: '$.results[*].categories.*', operator: 'equals', value: true, action: 'log' },
      { path: '$.results[*].categories.*', operator: 'equals', value: false, action: 'allow' },
    ],
    documentation: 'https://docs.mistral.ai/capabilities/guardrailing/',
  },
  {
    slug: 'llama-guard',
    name: 'Llama Guard',
    description:
      'A Llama Guard model behind an OpenAI-compatible endpoint, such as vLLM. Set the model name in the template to the one that endpoint uses.',
    base_url: 'https://LLAMA-GUARD.example.com/v1/chat/completions',
    ...bearer,
    request_template: {
      model: 'meta-llama/Llama-Guard-4-12B',
      messages: [{ role: 'user', content: '{{text}}' }],
      temperature: 0,
      max_tokens: 50,
    },
    // The model writes one word, after up to two line breaks. Any other text is not a verdict.
    response_rules: [
      { path: '$.choices[*].message.content', operator: 'contains', value: 'unsafe', action: 'block' },
      { path: '$.choices[*].message.content', operator: 'equals', value: 'safe', action: 'allow' },
      { path: '$.choices[*].message.content', operator: 'equals', value: '\n\nsafe', action: 'allow' },
    ],
    documentation: 'https://www.llama.com/docs/model-cards-and-prompt-formats/llama-guard-4/',
  },
];

export function presetOf(slug: string): Preset | undefined {
  return guardrailPresets.find((preset) => preset.slug === slug);
}
