import type { Operation, RouteKind, WireProtocol } from '@relay/contract';
import { anthropicCountTokens } from './anthropic-messages/count-tokens.ts';
import { anthropicMessages } from './anthropic-messages/index.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiEmbeddings } from './openai-embeddings/index.ts';
import { openaiResponses } from './openai-responses/index.ts';
import type { Protocol } from './protocol.ts';

export { guardrailSample } from './openai-chat/sample.ts';

/** Every protocol that Relay speaks, by the operation that it serves. */
export const protocols: Readonly<Record<Operation, Protocol>> = {
  chat: openaiChat,
  responses: openaiResponses,
  embeddings: openaiEmbeddings,
  messages: anthropicMessages,
  count_tokens: anthropicCountTokens,
};

export const allProtocols: readonly Protocol[] = Object.values(protocols);

export function protocolsOf(kind: RouteKind): readonly Protocol[] {
  return kind === 'multi' ? allProtocols : [protocols[kind]];
}

/** The protocol in which an endpoint is tested. */
export function probedProtocol(kind: RouteKind, family: WireProtocol): Protocol {
  const own = kind === 'multi' ? null : protocols[kind];
  return own?.family === family ? own : mainProtocols[family];
}

/** Of those that a provider speaks, the one that every model serves. */
export const mainProtocols: Readonly<Record<WireProtocol, Protocol>> = {
  openai: openaiChat,
  anthropic: anthropicMessages,
};
