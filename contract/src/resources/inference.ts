import Type, { type Static } from 'typebox';
import { integer, open, optional } from '../schema.ts';

/**
 * Inference bodies are open: Relay passes unknown fields to the provider unchanged.
 * Message content may be text, parts or null (with tool calls), so the provider validates it.
 */
const Model = Type.String({
  minLength: 1,
  description: 'A lane, `provider-slug/upstream-model` or an upstream model.',
});
const Input = Type.Union([Type.String(), Type.Array(Type.Unknown(), { minItems: 1 })]);

const Message = open('ChatMessage', {
  role: Type.String(),
  content: optional(
    Type.Union([Type.String(), Type.Array(Type.Unknown()), Type.Null()], {
      description: 'Text, content parts, or null with tool calls.',
    }),
  ),
});

export const ChatCompletionRequest = open('ChatCompletionRequest', {
  model: Model,
  messages: Type.Array(Message, { minItems: 1 }),
  stream: optional(Type.Union([Type.Boolean(), Type.Null()])),
});
export type ChatCompletionRequest = Static<typeof ChatCompletionRequest>;

export const ResponseRequest = open('ResponseRequest', {
  model: Model,
  input: Input,
  stream: optional(Type.Union([Type.Boolean(), Type.Null()])),
});
export type ResponseRequest = Static<typeof ResponseRequest>;

export const EmbeddingsRequest = open('EmbeddingsRequest', {
  model: Model,
  input: Input,
  stream: optional(
    Type.Union([Type.Literal(false), Type.Null()], { description: 'Embeddings are not streamed.' }),
  ),
});
export type EmbeddingsRequest = Static<typeof EmbeddingsRequest>;

export const MessagesRequest = open('MessagesRequest', {
  model: Model,
  messages: Type.Array(Type.Unknown(), { minItems: 1 }),
  max_tokens: optional(integer({ description: 'Anthropic requires it; the provider checks it.' })),
  stream: optional(Type.Boolean()),
});
export type MessagesRequest = Static<typeof MessagesRequest>;

export const CountTokensRequest = open('CountTokensRequest', {
  model: Model,
  messages: Type.Array(Type.Unknown(), { minItems: 1 }),
});
export type CountTokensRequest = Static<typeof CountTokensRequest>;

export const ProviderObject = open(
  'ProviderObject',
  {},
  { description: 'The provider’s own object; its fields vary by provider.' },
);

export const ModelObject = open('Model', {
  id: Type.String(),
  object: Type.Literal('model'),
  created: integer({ description: 'Unix seconds.' }),
  owned_by: Type.String(),
});
export type ModelObject = Static<typeof ModelObject>;

export const ModelList = open('ModelList', {
  object: Type.Literal('list'),
  data: Type.Array(ModelObject),
});
export type ModelList = Static<typeof ModelList>;

export const ModelParams = Type.Object({
  model: Type.String({
    minLength: 1,
    description:
      'An upstream model, a lane’s slug or `provider-slug/upstream-model`. Slashes may be percent-encoded.',
  }),
});
