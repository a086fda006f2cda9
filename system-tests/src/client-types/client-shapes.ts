import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

// What the published SDKs say that a client gets. Where Relay's values have more, the difference and its reason stand here.

/** The name that providers and clients have for thinking in a chat. */
interface Thinks {
  reasoning_content?: string;
}
/** Members that Relay's own errors have beside those of the protocol. */
interface OwnError {
  request_id?: string;
  doc_url?: string;
  source?: string;
  owner?: string;
  retry?: boolean;
  details?: unknown;
}

type ChatChoice = OpenAI.ChatCompletion.Choice;
type ChunkChoice = OpenAI.ChatCompletionChunk.Choice;

export type ChatWhole = Omit<OpenAI.ChatCompletion, 'choices'> & {
  choices: (Omit<ChatChoice, 'message'> & { message: OpenAI.ChatCompletionMessage & Thinks })[];
};
export type ChatChunk = Omit<OpenAI.ChatCompletionChunk, 'choices'> & {
  choices: (Omit<ChunkChoice, 'delta'> & { delta: ChunkChoice['delta'] & Thinks })[];
};
export interface OpenaiError {
  error: OpenAI.ErrorObject & OwnError;
}

type Response = OpenAI.Responses.Response;
type Item = OpenAI.Responses.ResponseOutputItem;
/** OpenAI says how far a custom call is, too, and the AI SDK requires it. */
type SentItem<Given> = Given extends { type: 'custom_tool_call' }
  ? Given & { status?: 'in_progress' | 'completed' | 'incomplete' }
  : Given;
/**
 * `output_text` is added by the SDK. OpenAI sends more codes of errors than its types list, on some of which Codex acts, and repeats
 * `store`.
 */
export type ResponsesWhole = Omit<Response, 'output_text' | 'error' | 'output'> & {
  error: (Omit<OpenAI.Responses.ResponseError, 'code'> & { code: string }) | null;
  output: SentItem<Item>[];
  store?: boolean;
};
type Sent<Event> = Event extends { response: Response }
  ? Omit<Event, 'response'> & { response: ResponsesWhole }
  : Event extends { item: Item }
    ? Omit<Event, 'item'> & { item: SentItem<Item> }
    : Event extends OpenAI.Responses.ResponseErrorEvent
      ? // The API has the members of an error in `error`, and the types have them beside it: clients read one or the other.
        Event & { error?: OpenAI.ErrorObject & OwnError }
      : Event;
/** OpenAI sends it in a silence; its types do not have it. */
interface KeepAlive {
  type: 'keepalive';
  sequence_number: number;
}
export type ResponsesEvent = Sent<OpenAI.Responses.ResponseStreamEvent> | KeepAlive;

export type MessagesWhole = Anthropic.Message;
/** The SDK leaves pings out before it gives events to its users. */
export type MessagesEvent = Anthropic.RawMessageStreamEvent | { type: 'ping' };
/** The documentation also has `request_too_large`, for 413. */
export type MessagesError = Omit<Anthropic.ErrorResponse, 'error'> & {
  error: {
    type: Anthropic.ErrorType | 'request_too_large';
    message: string;
    code?: string | null;
    param?: string | null;
  } & OwnError;
};
