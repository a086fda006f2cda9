import { type JsonObject, objectOf } from '../../../../kit/json-value.ts';
import type { ReportedUsage } from '../../model-events.ts';
import type { WriterOptions } from '../../translation.ts';

/** What the response object says of the request: clients read their settings from it. */
export function repeatedSettings({ request, model }: WriterOptions): JsonObject {
  const asked = objectOf(request);
  const { effort, summary } = objectOf(asked['reasoning']);
  const text = objectOf(asked['text']);
  return {
    model,
    background: false,
    instructions: asked['instructions'] ?? null,
    max_output_tokens: asked['max_output_tokens'] ?? null,
    max_tool_calls: asked['max_tool_calls'] ?? null,
    metadata: asked['metadata'] ?? {},
    parallel_tool_calls: asked['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    prompt_cache_key: asked['prompt_cache_key'] ?? null,
    reasoning: { effort: effort ?? null, summary: summary ?? null },
    safety_identifier: asked['safety_identifier'] ?? null,
    service_tier: null,
    // Relay keeps no responses, whatever was asked for.
    store: false,
    temperature: asked['temperature'] ?? null,
    text: { ...text, format: text['format'] ?? { type: 'text' } },
    tool_choice: asked['tool_choice'] ?? 'auto',
    tools: asked['tools'] ?? [],
    top_logprobs: asked['top_logprobs'] ?? 0,
    top_p: asked['top_p'] ?? null,
    truncation: 'disabled',
    ...(typeof asked['user'] === 'string' ? { user: asked['user'] } : {}),
    access_programs: null,
  };
}

/** None when the provider reported nothing: zeros would be a claim. */
export function usageMember(usage: Partial<ReportedUsage>): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  if (inputTokens === undefined && outputTokens === undefined) return {};
  return {
    usage: {
      input_tokens: inputTokens ?? 0,
      input_tokens_details: {
        cached_tokens: cacheReadTokens ?? 0,
        cache_write_tokens: cacheWriteTokens ?? 0,
      },
      output_tokens: outputTokens ?? 0,
      output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
      total_tokens: (inputTokens ?? 0) + (outputTokens ?? 0),
    },
  };
}
