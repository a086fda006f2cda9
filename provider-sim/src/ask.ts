import type { Fault } from './fault.ts';
import type { ReportedUsage } from './request-log.ts';

export type Operation = 'chat' | 'responses' | 'embeddings' | 'messages' | 'count_tokens' | 'models';

export interface Frame {
  text: string;
  tokens: number;
  /** Content as opposed to preamble, finish, usage and terminator. */
  content: boolean;
}

/** What is said in answer to a request, independent of how it travels. */
export interface Answer {
  promptTokens: number;
  completionTokens: number;
  body(): string;
  frames(): Iterable<Frame>;
  /** What a failing stream says; the number is that of the frames sent before it. */
  errorFrame(framesSent: number): string;
  /** Null where this response tells the client nothing about usage. */
  reported: ReportedUsage | null;
}

/** A request that passed validation. */
export interface Ask {
  operation: Operation;
  model: string | null;
  stream: boolean;
  /** The fault the body itself asks for. */
  fault: Fault | null;
  unknownFields: string[];
  answer(fault: Fault): Answer;
}

export interface AskContext {
  seed: number;
  /** Size of the vectors this model makes unless the request says otherwise. */
  dimensions: number;
}

/** Fixed, so that the same request always gets the same bytes. */
export const createdAtSeconds = 1_767_225_600;

export function idFrom(prefix: string, seed: number): string {
  return `${prefix}${seed.toString(16).padStart(8, '0')}${(~seed >>> 0).toString(16).padStart(8, '0')}`;
}

export function usageFor(fault: Fault, promptTokens: number, completionTokens: number): ReportedUsage | null {
  if (fault.noUsage === true) return null;
  if (fault.zeroUsage === true) return { promptTokens: 0, completionTokens: 0 };
  return {
    promptTokens: fault.claimedInput ?? promptTokens,
    completionTokens: fault.claimedOutput ?? completionTokens,
  };
}

export function cachedTokensOf(fault: Fault, usage: ReportedUsage): number {
  return Math.min(fault.cachedTokens ?? 0, usage.promptTokens);
}
