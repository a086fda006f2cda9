import type { Operation, RouteKind } from '@relay/contract';
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
};

export const allProtocols: readonly Protocol[] = Object.values(protocols);

export function protocolsOf(kind: RouteKind): readonly Protocol[] {
  return kind === 'multi' ? allProtocols : [protocols[kind]];
}

/** The protocol that a connection test of an endpoint uses. */
export function probedProtocol(kind: RouteKind): Protocol {
  return kind === 'multi' ? openaiChat : protocols[kind];
}
