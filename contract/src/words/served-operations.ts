import type { operations, wireProtocols } from './choices.ts';

type Operation = (typeof operations)[number];
type RouteKind = Exclude<Operation, 'count_tokens'> | 'multi';

interface Spoken {
  readonly protocol: (typeof wireProtocols)[number];
  readonly route_kind: RouteKind;
}

const CHAT = ['chat', 'responses', 'messages'] as const;

const SERVED: Readonly<
  Record<Spoken['protocol'], Readonly<Partial<Record<RouteKind, readonly Operation[]>>>>
> = {
  openai: {
    chat: CHAT,
    responses: ['responses'],
    embeddings: ['embeddings'],
    multi: [...CHAT, 'embeddings'],
  },
  anthropic: { messages: [...CHAT, 'count_tokens'], multi: [...CHAT, 'count_tokens'] },
};

/** What clients can ask of an endpoint, as it is or translated. The gateway's own table decides; a test holds this one to it. */
export function servedOperations({ protocol, route_kind: kind }: Spoken): readonly Operation[] {
  return SERVED[protocol][kind] ?? [];
}
