import type { SourceShape } from '../../kit/json-source.ts';
import { type Failure, untranslatable } from './failure.ts';
import type { CarriedMembers } from './seal.ts';

/**
 * What a model's answer says, in no protocol's words. A reader turns one protocol's answer, whole or in frames, into these; a
 * writer turns these into another's. Only what at least two protocols can say has an event: a reader that meets other content
 * reports it with `unknown`, and the writer ends the answer with an error instead of leaving it out.
 */
export type ModelEvent =
  | { readonly kind: 'start'; readonly id: string; readonly model: string; readonly createdS: number | null }
  | { readonly kind: 'text'; readonly text: string }
  /** The tokens of the text that follows, for a client that reads them. */
  | { readonly kind: 'probabilities'; readonly tokens: readonly TokenProbability[] }
  /** The model declined, in words. */
  | { readonly kind: 'refusal'; readonly text: string }
  /** `isReturned`: the provider wants the text back with the calls that follow it. */
  | { readonly kind: 'thinking'; readonly text: string; readonly isReturned?: true }
  /** Closes the thinking before it; what the provider wants back unchanged with the next request. */
  | { readonly kind: 'thinking_signature'; readonly signature: string }
  | { readonly kind: 'redacted_thinking'; readonly data: string }
  /** Members that the provider wants back unchanged with the calls that follow or came before. */
  | { readonly kind: 'carried'; readonly members: CarriedMembers }
  /** A part that the provider sets apart from the one before it, although both are text. */
  | { readonly kind: 'part_end' }
  /** `call` counts the tool calls of the answer from 0; parts of several calls may alternate. */
  | { readonly kind: 'tool_call'; readonly call: number; readonly id: string; readonly name: string }
  | { readonly kind: 'tool_input'; readonly call: number; readonly json: string }
  /** Counts so far; a later one replaces those that it names. */
  | { readonly kind: 'usage'; readonly usage: Partial<ReportedUsage> }
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly sequence: string | null }
  | { readonly kind: 'ping' }
  | { readonly kind: 'error'; readonly failure: Failure }
  /** Content that no other protocol can say. */
  | { readonly kind: 'unknown'; readonly what: string }
  /** Something beside the content that the reader does not know; the answer is the same without it. */
  | { readonly kind: 'left_out'; readonly what: string };

/** In the words of OpenAI's protocols. */
export interface TokenProbability extends TokenAlternative {
  readonly top_logprobs: readonly TokenAlternative[];
}

export interface TokenAlternative {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

export type StopReason =
  | 'end'
  | 'length'
  | 'stop_sequence'
  | 'tool_calls'
  | 'refusal'
  | 'content_filter'
  /** The provider paused a long turn and wants to be asked again with what it wrote. */
  | 'pause';

/**
 * `inputTokens` includes what was read from and written to a cache, as OpenAI counts; `cacheWriteTokens` includes those that are kept
 * for an hour.
 */
export interface ReportedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheWriteHourTokens: number;
  readonly reasoningTokens: number;
}

/** Reads one answer of a provider. It has state: one for each answer. */
export interface AnswerReader {
  /** What it does not have to understand of a complete answer: it takes source text there. */
  readonly sources: SourceShape;
  /**
   * One server-sent event; its data is text in its real encoding. `stop` is the last event of an answer: a reader holds it back
   * until the provider can report no more usage.
   */
  frame(event: string | null, data: string): readonly ModelEvent[];
  /** The stream's bytes ended: what was held back for an end that the provider did not send. */
  end(): readonly ModelEvent[];
  /** A complete answer, parsed. */
  whole(answer: unknown): readonly ModelEvent[];
}

/** Writes one answer for a client. It has state: one for each answer. */
export interface AnswerWriter {
  /** Why what was written is not an answer: an event says so, or the client's protocol cannot express it. Null until then. */
  readonly failure: Failure | null;
  /** Server-sent events, complete with their blank lines; empty when there is nothing to say yet. */
  frames(events: readonly ModelEvent[]): string;
  /** The answer that all events together make, or the error body when they make none; `failure` then says why. */
  whole(events: readonly ModelEvent[]): unknown;
}

/** Why these events do not make an answer; null when they do. */
export function failureIn(events: readonly ModelEvent[]): Failure | null {
  for (const event of events) {
    const failure = failureOf(event);
    if (failure !== null) return failure;
  }
  return null;
}

export function failureOf(event: ModelEvent): Failure | null {
  if (event.kind === 'error') return event.failure;
  return event.kind === 'unknown' ? untranslatable(event.what) : null;
}
