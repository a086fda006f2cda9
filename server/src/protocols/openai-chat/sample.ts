import type { TemplateValues } from '../../domain/guardrails/template.ts';
import type { GuardrailStage } from '../../domain/guardrails/verdict.ts';
import { PROBE_PROMPT, probeRules } from '../probe-rules.ts';

export const chatProbe = probeRules(
  (model) => ({ ...sampleRequest(model, PROBE_PROMPT), max_tokens: 1 }),
  'choices',
  // Newer models of some providers accept the output limit only under its newer name, and say so.
  (model, message) =>
    message.includes('max_completion_tokens')
      ? { ...sampleRequest(model, PROBE_PROMPT), max_completion_tokens: 1 }
      : null,
);

function sampleRequest(model: string, text: string) {
  return { model, messages: [{ role: 'user', content: text }] };
}

/** What a chat request, or the answer to one, that contains only the text would fill a guardrail's template with. */
export function guardrailSample(
  text: string,
  stage: GuardrailStage,
  model: string,
): Pick<TemplateValues, 'text' | 'stage' | 'operation' | 'model' | 'messages' | 'body'> {
  const message = { role: stage === 'pre_dispatch' ? 'user' : 'assistant', content: text };
  const body =
    stage === 'pre_dispatch'
      ? sampleRequest(model, text)
      : { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  return { text, stage, operation: 'chat', model, messages: [message], body };
}
