import { toolUseId } from '../chat-to-messages/tool-use-id.ts';
import type { ReportedUsage, StopReason } from '../model-events.ts';

/*
 * What Messages clients get, member by member: their types require all of them, and null for what a provider of another protocol
 * does not say. `npm run system -- client-types` holds these against the published SDK.
 */

export type Block = TextBlock | ThinkingBlock | RedactedBlock | ToolUseBlock;

interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly citations: null;
}

interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature: string;
}

interface RedactedBlock {
  readonly type: 'redacted_thinking';
  readonly data: string;
}

interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly caller: { readonly type: 'direct' };
}

export interface Message extends MessageEnd {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly model: string;
  readonly content: readonly Block[];
  readonly container: null;
  readonly diagnostics: null;
  readonly usage: MessageUsage;
}

/** How a message ends; nulls while it has not. */
export interface MessageEnd {
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly stop_details: {
    readonly type: 'refusal';
    readonly category: null;
    readonly explanation: null;
  } | null;
}

/** At the end of a stream the counts are repeated, without what was known at its beginning. */
export interface DeltaUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number } | null;
  readonly server_tool_use: null;
}

interface MessageUsage extends DeltaUsage {
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  } | null;
  readonly inference_geo: null;
  readonly service_tier: null;
  readonly speed: null;
}

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_calls: 'tool_use',
  refusal: 'refusal',
  content_filter: 'refusal',
  pause: 'pause_turn',
};

export const NOT_ENDED: MessageEnd = { stop_reason: null, stop_sequence: null, stop_details: null };

export function textBlock(text: string): TextBlock {
  return { type: 'text', text, citations: null };
}

export function thinkingBlock(thinking: string, signature: string): ThinkingBlock {
  return { type: 'thinking', thinking, signature };
}

export function redactedBlock(data: string): RedactedBlock {
  return { type: 'redacted_thinking', data };
}

export function toolUseBlock(id: string, name: string, input: unknown): ToolUseBlock {
  return { type: 'tool_use', id: toolUseId(id), name, input, caller: { type: 'direct' } };
}

export function messageEnd(reason: StopReason, sequence: string | null): MessageEnd {
  // A chat's `stop` stands for both; only a provider that names the sequence tells them apart.
  const named = reason === 'end' && sequence !== null ? 'stop_sequence' : reason;
  const declined = STOP_REASONS[named] === 'refusal';
  return {
    stop_reason: STOP_REASONS[named],
    stop_sequence: sequence,
    // The model's own words are part of the content.
    stop_details: declined ? { type: 'refusal', category: null, explanation: null } : null,
  };
}

/** Messages count tokens of a cache apart from the rest of the input. */
export function deltaUsage(usage: Partial<ReportedUsage>): DeltaUsage {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const { reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  };
}

export function messageUsage(usage: Partial<ReportedUsage>): MessageUsage {
  const { cacheWriteTokens, cacheWriteHourTokens = 0 } = usage;
  return {
    ...deltaUsage(usage),
    cache_creation:
      cacheWriteTokens === undefined
        ? null
        : {
            ephemeral_5m_input_tokens: Math.max(0, cacheWriteTokens - cacheWriteHourTokens),
            ephemeral_1h_input_tokens: cacheWriteHourTokens,
          },
    inference_geo: null,
    service_tier: null,
    speed: null,
  };
}
