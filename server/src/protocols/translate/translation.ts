import type { Operation } from '@relay/contract';
import type { AnswerReader, AnswerWriter } from './model-events.ts';

/** How a request of one protocol is asked of a provider that speaks another. */
export interface Translation {
  /** What the client speaks. */
  readonly client: Operation;
  /** What the provider speaks. */
  readonly provider: Operation;
  /** `request` is the client's body, parsed. Does not change it. */
  request(
    request: unknown,
    upstreamModel: string,
    options?: RequestOptions,
  ): TranslatedRequest | Incompatible;
  reader(options: Pick<WriterOptions, 'requestId'>): AnswerReader;
  writer(options: WriterOptions): AnswerWriter;
}

/** What is known of the endpoint and not of its protocol. */
export interface RequestOptions {
  /**
   * The output limit for a provider that requires one, when the client set none. Should be the most that the model writes:
   * anything less cuts answers short. `DEFAULT_MAX_TOKENS` without it.
   */
  readonly maxOutputTokens?: number;
  /** False when the endpoint rejects `reasoning_effort`; thinking settings are then left out and named. */
  readonly reasoningEffort?: boolean;
  /** Whose seals are opened (`makerOf`); none without it. */
  readonly maker?: string;
}

/** Every Claude model since version 4 writes at least this much, and none is made to stop earlier than it would. */
export const DEFAULT_MAX_TOKENS = 32_000;

export interface TranslatedRequest {
  readonly kind: 'translated';
  readonly body: Readonly<Record<string, unknown>>;
  /**
   * Paths of advisory fields that the provider's protocol cannot say, such as `system[0].cache_control`, and of what it says in another
   * way: `messages[2].role (moved after the user turn)`.
   */
  readonly leftOut: readonly string[];
}

/** The request has a field that the provider's protocol cannot say and that changes the answer. */
export interface Incompatible {
  readonly kind: 'incompatible';
  readonly field: string;
  readonly why: string;
}

export interface WriterOptions {
  /** The client's own request, parsed: writers repeat what clients expect to see again. */
  readonly request: unknown;
  /** What the client asked for as `model`. */
  readonly model: string;
  readonly requestId: string;
  readonly nowMs: number;
  /** Who makes the answer (`makerOf`): only requests to the same one get back what is sealed in it. */
  readonly maker: string;
}

/**
 * Every field of the client's protocol has one of these. `carried`: said in the provider's words. `advisory`: left out and named;
 * the answer is the same without it. `essential`: when present, the candidate is incompatible. A field that is not in the table
 * is essential.
 */
export type FieldTreatment = 'carried' | 'advisory' | 'essential';
