import type { ServerResponse } from 'node:http';
import { durationWords } from '@relay/contract/words';
import type { Usage } from '../../domain/money/usage.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { verdictOfStatus } from '../../domain/routing/upstream-verdict.ts';
import type { Clock } from '../../kit/clock.ts';
import type { FairSlices } from '../../kit/fair-slices.ts';
import type { OneAtATime } from '../../kit/one-at-a-time.ts';
import type { AnswerReading, Protocol } from '../../protocols/protocol.ts';
import type { AnswerTranslator } from '../../protocols/translate/answer-translator.ts';
import {
  type AttemptFault,
  type AttemptOutcome,
  type AttemptResult,
  type Exchange,
  type Flow,
  type InCharge,
  isFailure,
  type StopReason,
  type UpstreamHead,
  type UpstreamListener,
} from '../exchange.ts';
import { BodyWriter } from './body-writer.ts';
import { decode, isSmall } from './decode-answer.ts';
import { EncodedStreamTap } from './encoded-stream-tap.ts';
import { StreamReader } from './stream-reader.ts';
import { encodingOf, isEventStream, mustBeJson, withoutLength } from './upstream-head.ts';
import { usageOfError } from './usage-of-error.ts';

/** Relay holds answers up to this size until they are complete, so that usage can go into the headers. */
const BUFFERED_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_BYTES = 2 * 1024;
/** How long the body of an error may take. After it, the attempt fails without the body. */
const ERROR_BODY_MS_MAX = 2_000;
/** An error is checked for the credential before it is sent, so it is held completely. */
const ERROR_BYTES_MAX = 1024 * 1024;
/** Of an answer about Relay's credential or address only the beginning is read, and none of it is sent. */
const REJECTION_BYTES_MAX = 16 * 1024;

const INCOMPLETE = {
  code: 'upstream_invalid_response',
  why: 'the response is not a complete JSON object',
} as const;
const EMPTY = { code: 'upstream_invalid_response', why: 'the stream ended before any content' } as const;
/** In place of a head until the provider has sent one. */
const NO_HEAD: UpstreamHead = { status: 0, headers: {} };

export interface ReplyDeps {
  readonly exchange: Exchange;
  /** What the provider speaks. */
  readonly protocol: Protocol;
  readonly clock: Clock;
  /** Large answers are read in slices, in which organizations take turns. */
  readonly slices: FairSlices;
  readonly decoding: OneAtATime;
  readonly dropUsageFrame: boolean;
  /** Says the provider's frames in the client's words; null where both speak the same. */
  readonly translator: AnswerTranslator | null;
  /**
   * A guardrail inspects a 2xx before the client gets any of it, or it is translated as a whole, so it has to be a complete JSON object
   * of bounded size.
   */
  readonly whole: boolean;
  /** The response headers at the moment the first byte is sent. */
  readonly headersFor: (head: UpstreamHead, usage: Usage | null) => string[];
  /** The frame that tells the client why its stream is not complete. */
  readonly errorFrame: (error: RelayError) => string;
  /** An error frame of the provider without the credential that was sent to it. */
  readonly cleanFrame: (frame: Buffer) => Buffer;
}

/**
 * Relays the answer to one attempt. Until the first byte of content nothing is sent and another attempt can replace this one;
 * from then on the client gets this answer to its end. `result` settles once. Answers with the provider's status.
 */
export class Reply implements UpstreamListener, InCharge {
  /** Monotonic time of the provider's head; null until then. */
  headMs: number | null = null;
  /** Set as soon as the request is sent. */
  stopUpstream: (() => void) | null = null;
  readonly result: Promise<AttemptResult>;
  readonly #deps: ReplyDeps;
  readonly #response: ServerResponse;
  readonly #sentMs: number;
  #resolve: (result: AttemptResult) => void = () => undefined;
  #mode: 'waiting' | 'buffering' | 'streaming' | 'piping' | 'over' = 'waiting';
  #head: UpstreamHead = NO_HEAD;
  #flow: Flow | null = null;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #reader: StreamReader | null = null;
  #tap: EncodedStreamTap | null = null;
  #tail: Buffer = Buffer.alloc(0);
  /** Null until the head was sent. */
  #body: BodyWriter | null = null;
  #committedMs: number | null = null;
  #errorBodyTimer: NodeJS.Timeout | null = null;
  #awaitingDrain = false;

  constructor(deps: ReplyDeps) {
    this.#deps = deps;
    this.#response = deps.exchange.response;
    this.#sentMs = deps.clock.monotonicMs();
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Null until the provider has answered. */
  get head(): UpstreamHead | null {
    return this.headMs === null ? null : this.#head;
  }

  /** The upstream request is aborted. A client that is still there gets the error, unless it has a part of another body. */
  stop(reason: StopReason): void {
    this.stopUpstream?.();
    if (this.#mode === 'over') return;
    if (this.#committedMs === null) this.#finish({ kind: 'stopped' });
    else if (reason === 'client_gone') this.#delivered('cancelled', 'client_disconnected');
    else this.#breakOff(reason.code, reason);
  }

  onHead(head: UpstreamHead, flow: Flow): void {
    if (this.#mode === 'over') return;
    this.headMs = this.#deps.clock.monotonicMs();
    this.#head = head;
    this.#flow = flow;
    const isStream = !isFailure(head.status) && isEventStream(head);
    if (isStream && this.#deps.whole) {
      this.#refuse('it returned a stream that wasn’t requested');
    } else if (!isStream) {
      this.#mode = 'buffering';
      if (isFailure(head.status)) this.#watchErrorBody();
    } else if (this.#deps.translator !== null && encodingOf(head) !== null) {
      this.#refuse('it sent a compressed stream that wasn’t requested and can’t be translated');
    } else if (encodingOf(head) === null) {
      this.#mode = 'streaming';
      this.#head = withoutLength(head);
      this.#reader = new StreamReader(
        this.#deps.protocol.stream,
        this.#deps.dropUsageFrame,
        this.#deps.cleanFrame,
      );
    } else {
      // Compressed although Relay did not ask for it: the bytes are relayed, usage is read from a decoded copy.
      // Nothing is sent before the first of them, so until then another attempt can replace this one.
      this.#tap = new EncodedStreamTap(encodingOf(head) ?? '', this.#deps.protocol.stream);
      this.#mode = 'piping';
    }
  }

  onData(chunk: Buffer): void {
    if (this.#mode === 'buffering') this.#buffer(chunk);
    else if (this.#mode === 'streaming') this.#stream(chunk);
    else if (this.#mode === 'piping') this.#pipeChunk(chunk);
  }

  onEnd(): void {
    if (this.#mode === 'buffering') this.#endBuffered();
    else if (this.#mode === 'streaming') this.#endStream();
    else if (this.#mode === 'piping') void this.#endPiped();
  }

  onFailure(fault: AttemptFault): void {
    if (this.#mode === 'over') return;
    if (this.#isRejected()) this.#endBuffered();
    else if (this.#committedMs === null) this.#finish({ kind: 'failure', fault, held: null });
    else this.#breakOff(fault.code, new RelayError('stream_interrupted'));
  }

  /** Ends an answer of which the client has a part. */
  #breakOff(cause: string, error: RelayError): void {
    if (this.#mode === 'streaming') {
      this.#endCommitted(cause, error);
      return;
    }
    // A partial body with an announced length or encoding cannot be completed, so the connection breaks.
    this.#response.destroy();
    this.#delivered('failed', cause);
  }

  #buffer(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (isFailure(this.#head.status)) {
      this.#boundError();
      return;
    }
    if (this.#bufferedBytes <= BUFFERED_BYTES_MAX) return;
    if (this.#isInspected() || this.#deps.translator !== null) {
      this.#refuse('the response is too large to check or translate');
      return;
    }
    const held = this.#chunks;
    this.#chunks = [];
    this.#mode = 'piping';
    for (const each of held) this.#pipeChunk(each);
  }

  #endBuffered(): void {
    const head = this.#head;
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const body = only ?? Buffer.concat(this.#chunks, this.#bufferedBytes);
    const encoding = encodingOf(head);
    const judge = ({ sound, usage }: AnswerReading) => {
      const mayPass = sound || !(mustBeJson(head) || this.#isInspected());
      if (mayPass) this.#finish({ kind: 'answer', answer: { ...head, body }, usage });
      else this.onFailure(INCOMPLETE);
    };
    if (isFailure(head.status)) judge({ sound: true, usage: usageOfError(this.#deps.protocol, head, body) });
    else if (encoding !== null) void this.#readEncoded(body, encoding).then(judge);
    else {
      const read = this.#read(body);
      if (read instanceof Promise) void read.then(judge);
      else judge(read);
    }
  }

  #read(body: Buffer): AnswerReading | Promise<AnswerReading> {
    const { exchange, protocol, slices } = this.#deps;
    return slices.run(exchange.caller.organizationId, protocol.answer.read(body));
  }

  /** Relay cannot judge what it cannot decode, so such an answer counts as sound and is metered by its estimate. */
  async #readEncoded(body: Buffer, encoding: string): Promise<AnswerReading> {
    const { exchange, decoding } = this.#deps;
    // Decoding takes a thread, and one organization must not take all of them.
    const decoded = isSmall(body.length)
      ? await decode(body, encoding)
      : await decoding(exchange.caller.organizationId, () => decode(body, encoding));
    if (decoded === 'broken') return { sound: false, usage: null };
    return Buffer.isBuffer(decoded) ? this.#read(decoded) : { sound: true, usage: null };
  }

  #isInspected(): boolean {
    return this.#deps.whole && !isFailure(this.#head.status);
  }

  #refuse(why: string): void {
    this.#flow?.abort();
    this.onFailure({ code: 'upstream_invalid_response', why });
  }

  /** The provider rejected Relay's credential or address. The status says it all; the body may be missing or cut. */
  #isRejected(): boolean {
    return this.headMs !== null && verdictOfStatus(this.#head.status).rejects !== null;
  }

  #boundError(): void {
    if (this.#isRejected() && this.#bufferedBytes > REJECTION_BYTES_MAX) {
      this.#flow?.abort();
      this.#endBuffered();
    } else if (this.#bufferedBytes > ERROR_BYTES_MAX) {
      this.#refuse(`its error (${this.#head.status}) is larger than 1 MiB`);
    }
  }

  #stream(chunk: Buffer): void {
    const reader = this.#reader;
    if (reader === null) return;
    const ready = reader.push(chunk);
    if (reader.phase === 'refused') {
      this.#flow?.abort();
      const held = { ...this.#head, body: this.#inClientsWords(reader.takeHeld()) };
      const why = 'the stream reported an error before any content';
      this.#finish({ kind: 'failure', fault: { code: 'upstream_invalid_response', why }, held });
      return;
    }
    for (const bytes of ready) this.#relay(bytes);
  }

  #relay(bytes: Buffer): void {
    if (this.#mode !== 'over') this.#send(this.#inClientsWords(bytes));
  }

  /** Sends frames in the client's words; the last may be an error in place of what cannot be expressed in them. */
  #send(said: Buffer): void {
    if (said.length > 0) this.#write(said);
    if (this.#deps.translator?.failure == null || this.#reader?.errored === true) return;
    this.#flow?.abort();
    this.#commit().end();
    this.#delivered('failed', 'upstream_invalid_response');
  }

  #inClientsWords(bytes: Buffer): Buffer {
    return this.#deps.translator === null ? bytes : this.#deps.translator.push(bytes);
  }

  #endStream(): void {
    const reader = this.#reader;
    if (reader === null) return;
    const rest = reader.end();
    if (reader.phase !== 'open' && !reader.done) {
      this.onFailure(EMPTY);
      return;
    }
    if (reader.phase !== 'open') this.#relay(reader.takeHeld());
    if (reader.done || reader.errored) for (const bytes of rest) this.#relay(bytes);
    // What was relayed last may be untranslatable, which ended the response.
    if (this.#mode === 'streaming') this.#endCommitted('ended_early', new RelayError('stream_interrupted'));
  }

  /**
   * A stream that has reported its end or an error is complete, however its connection closes. Any other stream was interrupted,
   * and the client gets one error frame.
   */
  #endCommitted(cause: string, error: RelayError): void {
    const reader = this.#reader;
    if (reader?.errored === true) {
      this.#commit().end();
      this.#delivered('failed', 'upstream_error_frame');
    } else if (reader?.done === true) {
      if (this.#deps.translator !== null) this.#send(this.#deps.translator.end());
      if (this.#mode === 'over') return;
      this.#commit().end();
      this.#delivered('completed', null);
    } else {
      // An incomplete frame is dropped, so that the client parses the error frame by itself.
      this.#commit().write(Buffer.from(this.#deps.errorFrame(error)));
      this.#commit().end();
      this.#delivered('failed', cause);
    }
  }

  #pipeChunk(chunk: Buffer): void {
    this.#write(chunk);
    this.#tap?.push(chunk);
    const joined = chunk.length >= TAIL_BYTES ? chunk : Buffer.concat([this.#tail, chunk]);
    this.#tail = joined.subarray(Math.max(0, joined.length - TAIL_BYTES));
  }

  async #endPiped(): Promise<void> {
    if (this.#committedMs === null) {
      this.onFailure(EMPTY);
      return;
    }
    this.#commit().end();
    if (this.#tap === null) {
      this.#delivered('completed', null, this.#deps.protocol.answer.readTail(this.#tail));
      return;
    }
    const { done, usage } = await this.#tap.end();
    this.#delivered(done ? 'completed' : 'failed', done ? null : 'ended_early', usage);
  }

  #commit(): BodyWriter {
    if (this.#body !== null) return this.#body;
    const head = this.#head;
    this.#committedMs = this.#deps.clock.monotonicMs();
    this.#deps.exchange.upstreamMs += this.#committedMs - this.#sentMs;
    this.#response.writeHead(head.status, this.#deps.headersFor(head, null));
    this.#body = new BodyWriter(this.#response);
    return this.#body;
  }

  #write(bytes: Buffer): void {
    if (this.#commit().write(bytes) || this.#awaitingDrain) return;
    this.#awaitingDrain = true;
    this.#flow?.pause();
    this.#response.once('drain', () => {
      this.#awaitingDrain = false;
      this.#flow?.resume();
    });
  }

  #watchErrorBody(): void {
    this.#errorBodyTimer = setTimeout(() => {
      this.#flow?.abort();
      const why = `its error (${this.#head.status}) did not fully arrive within ${durationWords(ERROR_BODY_MS_MAX)}`;
      this.onFailure({ code: 'upstream_timeout', why });
    }, ERROR_BODY_MS_MAX);
  }

  #delivered(
    state: AttemptOutcome,
    cause: string | null,
    usage: Usage | null = this.#reader?.usage ?? null,
  ): void {
    const reported = usage === null ? (this.#reader?.counts ?? null) : null;
    const delivery = {
      state,
      cause,
      status: this.#head.status,
      usage,
      ...(reported !== null && { usageInPart: reported }),
      streamedTokens: this.#reader?.streamedTokens ?? 0,
      firstByteMs: this.#committedMs ?? 0,
    };
    this.#finish({ kind: 'delivered', delivery });
  }

  #finish(result: AttemptResult): void {
    if (this.#mode === 'over') return;
    this.#mode = 'over';
    if (this.#errorBodyTimer !== null) clearTimeout(this.#errorBodyTimer);
    if (this.#committedMs === null)
      this.#deps.exchange.upstreamMs += this.#deps.clock.monotonicMs() - this.#sentMs;
    this.#resolve(result);
  }
}
