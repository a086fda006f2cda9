import type { Operation, RouteKind, WireProtocol } from '@relay/contract';
import type { TextMessage } from '../domain/guardrails/template.ts';
import type { OutputMost } from '../domain/limits/hard-reservation.ts';
import type { TokenEstimate, Usage } from '../domain/money/usage.ts';
import type { Steps } from '../kit/slices.ts';
import type { SseFrame } from '../kit/sse-frames.ts';
import type { InputBound } from './input-bound/input-at-most.ts';
import type { OutputBounds } from './output-cap.ts';
import type { OwnThinking } from './own-thinking.ts';
import type { Quirks } from './provider-presets.ts';
import type { BodyWithBytes, InferenceBody, MeasuredBody, RequestSettings } from './request-body.ts';
import type { AddedSetting } from './splice-body.ts';

/**
 * What Relay knows of one wire protocol. Protocols have no state and do no I/O: inference reads requests and answers with them,
 * management explains and tests with them. Each part below is one concern; `README.md` says what a new protocol has to provide.
 */
export interface Protocol {
  /** The name that endpoints, request records and metrics have for it. */
  readonly operation: Operation;
  /** What an endpoint's provider has to speak to get these requests as they are. */
  readonly family: WireProtocol;
  /** What an endpoint serves that gets these requests; one of `multi` gets all of its family. */
  readonly routeKind: RouteKind;
  /** Appended to `/v1` at Relay and to the base URL at a provider. */
  readonly path: string;
  /** False when the model writes nothing, so that there are no output tokens to estimate, learn or price. */
  readonly hasOutput: boolean;
  /** True where providers charge nothing. */
  readonly isFree: boolean;
  readonly headers: HeaderRules;
  readonly request: RequestRules;
  readonly answer: AnswerRules;
  readonly stream: StreamRules;
  /** Null when guardrails cannot inspect requests of this protocol. */
  readonly text: TextRules | null;
  readonly errors: ErrorRules;
  readonly models: ModelListRules;
  readonly probe: ProbeRules;
}

/** The headers that are particular to the protocol. Names are in lower case. */
export interface HeaderRules {
  /** Where its clients send a key if not in `Authorization`, which wins. Such a header never reaches a provider. */
  readonly keys: readonly string[];
  /** Client headers that providers get, besides those of every protocol. */
  readonly forwarded: readonly string[];
  /** Providers also get every client header whose name starts with this; null for none. */
  readonly forwardedPrefix: string | null;
  /** What Relay sends with a request of its own, names and values in turn. */
  readonly own: readonly string[];
  /** A header that all of its clients send, and no others; null where there is none. */
  readonly mark: string | null;
  /** Headers of answers in which clients look for the request's id, besides `x-request-id`. */
  readonly requestIds: readonly string[];
}

/** What can be called, in the shape that clients of this protocol parse. */
export interface ModelListRules {
  /** Throws 400 when the query asks for a page that does not exist. */
  list(models: readonly ListedModel[], query: URLSearchParams): unknown;
  one(model: ListedModel): unknown;
  /** How to read a provider's list that comes in pages; null where it comes in one. */
  readonly pages: ModelPages | null;
}

/** Parameters of the query. */
type PageQuery = Readonly<Record<string, string>>;

export interface ModelPages {
  readonly first: PageQuery;
  /** Null after the last page. */
  after(page: unknown): PageQuery | null;
}

export interface ListedModel {
  readonly id: string;
  readonly createdAtMs: number;
  readonly ownedBy: string;
}

/** The client's request, and the request that Relay makes of it for the provider. */
export interface RequestRules {
  /** Throws 400: `invalid_json` when the body is not JSON, `invalid_request` when a field is missing or of the wrong kind. */
  parse(bytes: Buffer): Steps<InferenceBody>;
  /** The parts of an already parsed request that an estimate needs; null when it nests deeper than a request may. */
  measure(request: RequestSettings): BodyWithBytes | null;
  isStreaming(settings: RequestSettings): boolean;
  output(body: MeasuredBody): OutputBounds;
  estimate(body: MeasuredBody, typical: TypicalTokens): TokenEstimate;
  /** What no model can exceed; `inputAtMost` says it for one of them. Reads the whole body. */
  inputBound(body: BodyWithBytes): Steps<InputBound>;
  /** What the request can write at most, for hard limits. */
  outputMost(body: MeasuredBody): OutputMost;
  /** The field in which the protocol has the limit on the output of one choice; null where the model writes nothing. */
  readonly outputCapField: string | null;
  /** Whether Relay adds a request for usage that the client did not make; the usage frame is then kept from the client. */
  asksForUsage(body: InferenceBody, quirks?: Quirks): boolean;
  /**
   * The client's bytes with the upstream model and, where `asksForUsage`, the request for usage: parts that follow each other.
   * Parameters that the provider does not take are left out or renamed.
   */
  forUpstream(body: InferenceBody, upstreamModel: string, changes?: UpstreamChanges): readonly Buffer[];
  /** What `AskedRequest.thinkingRemoval` looks for; null where Relay writes no thinking that clients of this protocol return. */
  readonly ownThinking: OwnThinking | null;
}

/** What one provider needs changed in a request that is passed through. */
export interface UpstreamChanges {
  readonly quirks?: Quirks;
  /** Removes Relay's own thinking; null where the request has none. */
  readonly removal?: AddedSetting | null;
  /** The limit on the output that Relay writes, because the client set none; null where it writes none. */
  readonly outputCap?: number | null;
}

/** What requests of one organization and lane used that did not say it in advance. */
export interface TypicalTokens {
  /** Of one choice, without a limit on the output. */
  readonly outputTokens: number;
  /** Beside what was in the request, where it refers to content that the provider stores or fetches. */
  readonly unseenInputTokens: number;
}

/** A complete answer. */
export interface AnswerRules {
  /** Also reads the outline of an answer that is too large to hold, or not complete. */
  read(body: Buffer): Steps<AnswerReading>;
  /** The members whose strings are text that the model wrote. */
  readonly textMembers: ReadonlySet<string>;
  /** What Relay answers by its own estimate if no endpoint can be asked; null when it answers nothing itself. */
  readonly estimated: ((body: MeasuredBody) => unknown) | null;
}

export interface AnswerReading {
  /** False when the body is not one complete JSON object. */
  readonly sound: boolean;
  /** A count that the provider did not report is missing. */
  readonly usage: Partial<Usage> | null;
  /** The status that the answer should have had, because it is an error. Absent: it is none. */
  readonly errorStatus?: number;
}

/** An answer that arrives as server-sent events. */
export interface StreamRules {
  /**
   * Matches a chunk with a frame that changes what Relay knows: its end, usage or an error. Chunks without a match are relayed
   * without parsing, once the stream has content.
   */
  readonly noteworthy: RegExp;
  /** Matches also a service tier with a price of its own, until one is known; null where no frame of content names a tier. */
  readonly noteworthyWithTier: RegExp | null;
  /** Also reads a frame with the outline of its data. */
  readFrame(frame: SseFrame): FrameMeaning;
  /** The bytes of text in a frame, as it came. Sound and images are not text. */
  textBytes(frame: string): number;
  /** The members whose strings are text, in frames that are too large to hold. */
  readonly textMembers: ReadonlySet<string>;
  /** Matches a frame whose `textMembers` have something else than text. Null: no such frame exists. */
  readonly notText: RegExp | null;
}

/** What one frame means for Relay. The client receives its bytes unchanged. */
export interface FrameMeaning {
  /**
   * `preamble` has nothing that a client could use, so another attempt can still replace the stream; `keep_alive` only shows that
   * the provider is still working; `closing` ends the content and adds nothing to it; `done` is the protocol's own end; `error`
   * reports that the provider failed.
   */
  readonly kind: 'preamble' | 'keep_alive' | 'content' | 'closing' | 'done' | 'error';
  readonly usage: Partial<Usage> | null;
  /** The service tier that the frame names beside its usage. Null: the standard tier. Absent: the frame names none. */
  readonly serviceTier?: string | null;
  /** The frame is there only because usage was asked for. */
  readonly usageOnly: boolean;
  /** The data begins as an object and is not JSON, so that clients cannot read it. */
  readonly isBroken?: true;
  /** The choices that end here, by index, each with its reason. Absent: none does. */
  readonly finished?: readonly number[];
}

/** What guardrails see, and the answer after a guardrail replaced its text. Bodies are parsed JSON of any shape. */
export interface TextRules {
  /** Everything in the request that a model reads as text: messages, items, tool calls and their results, instructions. */
  ofRequest(body: unknown): InspectedText;
  /** Everything in the answer that a client reads as text, including refusals and the arguments of tool calls. */
  ofAnswer(body: unknown): InspectedText;
  /**
   * The answer with the replacement in place of all its text. Members that could carry the text in another form are removed:
   * tool calls, reasoning, token probabilities.
   */
  replace(answer: unknown, replacement: string): unknown;
}

export interface InspectedText {
  readonly text: string;
  readonly messages: readonly TextMessage[];
  /** Images, audio, files and other parts without text. */
  readonly skippedParts: number;
}

/** Relay's own errors in the shape that clients of this protocol parse. */
export interface ErrorRules {
  /** Members of the error for a request that no candidate can serve: what its clients read to send it again in another form. */
  unserved(settings: RequestSettings): ErrorObject;
  body(error: ErrorObject, status: number): unknown;
  /** Ends a stream that broke after it was opened, in place of the protocol's own end. `before`: the frames that the client got last. */
  interruptedFrame(error: ErrorObject, status: number, before: string): string;
}

/** `type`, `code`, `message`, `param`, `request_id`, `doc_url` and further members that an error has. */
export type ErrorObject = Readonly<Record<string, unknown>>;

/** The smallest real request, for connection tests. */
export interface ProbeRules {
  request(model: string): object;
  /** Another form of the request, for a provider that answered 400 with this message; null when there is none. */
  requestAfter(model: string, message: string): object | null;
  /** Whether a 400 with this message proves that the model was reached. */
  provesReached(message: string): boolean;
  isAnswer(answer: unknown): boolean;
}
