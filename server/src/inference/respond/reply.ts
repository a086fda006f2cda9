import type { ServerResponse } from 'node:http';
import { durationWords } from '@relay/contract/words';
import type { Usage } from '../../domain/money/usage.ts';
import { verdictOfStatus } from '../../domain/routing/upstream-verdict.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Protocol } from '../../protocols/protocol.ts';
import {
  type AttemptFault,
  type AttemptOutcome,
  type AttemptResult,
  type Exchange,
  type Flow,
  type InCharge,
  isFailure,
  type UpstreamHead,
  type UpstreamListener,
} from '../exchange.ts';
import { readEncodedAnswer } from './decode-answer.ts';
import { EncodedStreamTap } from './encoded-stream-tap.ts';
import { StreamReader } from './stream-reader.ts';
import { encodingOf, isEventStream, mustBeJson, withoutLength } from './upstream-head.ts';

/** Relay holds answers up to this size until they are complete, so that usage can go into the headers. */
const BUFFERED_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_BYTES = 2 * 1024;
/** How long the body of an error may take. After it, the attempt fails without the body. */
const ERROR_BODY_MS_MAX = 2_000;
/** An error is checked for the credential before it is sent, so it is held completely. */
const ERROR_BYTES_MAX = 1024 * 1024;
/** Of an answer about Relay's credential or address only the beginning is read, and none of it is sent. */
const REJECTION_BYTES_MAX = 16 * 1024;

/** In place of a head until the provider has sent one. */
const NO_HEAD: UpstreamHead = { status: 0, headers: {} };

export interface ReplyDeps {
  readonly exchange: Exchange;
  /** What the provider speaks. */
  readonly protocol: Protocol;
  readonly clock: Clock;
  readonly dropUsageFrame: boolean;
  /** A guardrail inspects a 2xx before the client gets any of it, so it has to be a complete JSON object of bounded size. */
  readonly whole: boolean;
  /** The response headers at the moment the first byte is sent. */
  readonly headersFor: (head: UpstreamHead, usage: Usage | null) => string[];
  /** The frame that reports a broken stream to the client. */
  readonly interruptedFrame: () => string;
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

  /** The client disconnected: the upstream request is aborted. */
  clientLeft(): void {
    this.stopUpstream?.();
    if (this.#mode === 'over') return;
    if (this.#committedMs === null) this.#finish({ kind: 'client_gone' });
    else this.#delivered('cancelled', 'client_disconnected');
  }

  onHead(head: UpstreamHead, flow: Flow): void {
    if (this.#mode === 'over') return;
    this.headMs = this.#deps.clock.monotonicMs();
    this.#head = head;
    this.#flow = flow;
    const isStream = !isFailure(head.status) && isEventStream(head);
    if (isStream && this.#deps.whole) {
      this.#refuse('it answered with a stream that was not asked for');
    } else if (!isStream) {
      this.#mode = 'buffering';
      if (isFailure(head.status)) this.#watchErrorBody();
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
      this.#tap = new EncodedStreamTap(encodingOf(head) ?? '', this.#deps.protocol.stream);
      this.#pipe();
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
    else if (this.#mode === 'streaming') this.#endCommitted(fault.code);
    else {
      // A partial body with an announced length or encoding cannot be completed, so the connection breaks.
      this.#response.destroy();
      this.#delivered('failed', fault.code);
    }
  }

  #buffer(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (isFailure(this.#head.status)) {
      this.#boundError();
      return;
    }
    if (this.#bufferedBytes <= BUFFERED_BYTES_MAX) return;
    if (this.#isInspected()) {
      this.#refuse('the answer is too large to be inspected');
      return;
    }
    const held = this.#chunks;
    this.#chunks = [];
    this.#pipe();
    for (const each of held) this.#pipeChunk(each);
  }

  #endBuffered(): void {
    const head = this.#head;
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const body = only ?? Buffer.concat(this.#chunks, this.#bufferedBytes);
    const encoding = encodingOf(head);
    const judge = ({ sound, usage }: { sound: boolean; usage: Usage | null }) => {
      if (sound || !(mustBeJson(head) || this.#isInspected())) {
        this.#finish({ kind: 'answer', answer: { ...head, body }, usage });
      } else {
        this.onFailure({
          code: 'upstream_invalid_response',
          why: 'the answer is not a complete JSON object',
        });
      }
    };
    if (isFailure(head.status)) judge({ sound: true, usage: null });
    else if (encoding === null) judge(this.#deps.protocol.answer.read(body));
    else
      readEncodedAnswer(this.#deps.protocol.answer, body, encoding).then(judge, () =>
        judge({ sound: false, usage: null }),
      );
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
      const held = { ...this.#head, body: reader.takeHeld() };
      const why = 'the stream reported an error before any content';
      this.#finish({ kind: 'failure', fault: { code: 'upstream_invalid_response', why }, held });
      return;
    }
    for (const bytes of ready) this.#write(bytes);
  }

  #endStream(): void {
    const reader = this.#reader;
    if (reader === null) return;
    const rest = reader.end();
    if (reader.phase !== 'open' && !reader.done) {
      const why = 'the stream ended before any content';
      this.#finish({ kind: 'failure', fault: { code: 'upstream_invalid_response', why }, held: null });
      return;
    }
    if (reader.phase !== 'open') this.#write(reader.takeHeld());
    if (reader.done || reader.errored) for (const bytes of rest) this.#write(bytes);
    this.#endCommitted('ended_early');
  }

  /**
   * A stream that has reported its end or an error is complete, however its connection closes. Any other stream was interrupted,
   * and the client gets one error frame.
   */
  #endCommitted(cause: string): void {
    const reader = this.#reader;
    if (reader?.errored === true) {
      this.#response.end();
      this.#delivered('failed', 'upstream_error_frame');
    } else if (reader?.done === true) {
      this.#response.end();
      this.#delivered('completed', null);
    } else {
      // An incomplete frame is dropped, so that the client parses the error frame by itself.
      this.#response.end(this.#deps.interruptedFrame());
      this.#delivered('failed', cause);
    }
  }

  #pipe(): void {
    this.#mode = 'piping';
    this.#commit();
  }

  #pipeChunk(chunk: Buffer): void {
    this.#write(chunk);
    this.#tap?.push(chunk);
    const joined = chunk.length >= TAIL_BYTES ? chunk : Buffer.concat([this.#tail, chunk]);
    this.#tail = joined.subarray(Math.max(0, joined.length - TAIL_BYTES));
  }

  async #endPiped(): Promise<void> {
    this.#response.end();
    if (this.#tap === null) {
      this.#delivered('completed', null, this.#deps.protocol.answer.readTail(this.#tail));
      return;
    }
    const { done, usage } = await this.#tap.end();
    this.#delivered(done ? 'completed' : 'failed', done ? null : 'ended_early', usage);
  }

  #commit(): void {
    if (this.#committedMs !== null) return;
    const head = this.#head;
    this.#committedMs = this.#deps.clock.monotonicMs();
    this.#deps.exchange.upstreamMs += this.#committedMs - this.#sentMs;
    this.#response.writeHead(head.status, this.#deps.headersFor(head, null));
  }

  #write(bytes: Buffer): void {
    this.#commit();
    if (this.#response.write(bytes) || this.#awaitingDrain) return;
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
      const why = `its error (${this.#head.status}) did not arrive completely within ${durationWords(ERROR_BODY_MS_MAX)}`;
      this.onFailure({ code: 'upstream_timeout', why });
    }, ERROR_BODY_MS_MAX);
  }

  #delivered(
    state: AttemptOutcome,
    cause: string | null,
    usage: Usage | null = this.#reader?.usage ?? null,
  ): void {
    const delivery = {
      state,
      cause,
      status: this.#head.status,
      usage,
      streamedTokens: this.#reader?.contentFrames ?? 0,
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
