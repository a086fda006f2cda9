import { durationWords } from '@relay/contract/words';
import { RelayError } from '../../domain/relay-error.ts';
import { verdictOfStatus } from '../../domain/routing/upstream-verdict.ts';
import {
  type AttemptEnd,
  type AttemptFault,
  type AttemptOutcome,
  type AttemptResult,
  type Flow,
  type InCharge,
  isFailure,
  type StopReason,
  type UpstreamHead,
  type UpstreamListener,
} from '../exchange.ts';
import type { BodyWriter } from './body-writer.ts';
import { type CountDeps, countArrived } from './count-arrived.ts';
import { type Counted, NOTHING_COUNTED } from './counted.ts';
import { type Judged, judgeAnswer } from './judge-answer.ts';
import { PassedAnswer } from './passed-answer.ts';
import { refusalOfStream } from './refusal-of-stream.ts';
import type { ReplyDeps } from './reply-deps.ts';
import { SentAnswer } from './sent-answer.ts';
import { StreamHold } from './stream-hold.ts';
import { StreamReader } from './stream-reader.ts';
import { encodingOf, isEventStream, mustBeJson, NO_HEAD, withoutLength } from './upstream-head.ts';

/** Relay holds answers up to this size until they are complete, so that usage can go into the headers. */
const BUFFERED_BYTES_MAX = 8 * 1024 * 1024;
/** How long the body of an error may take. After it, the attempt fails without the body. */
const ERROR_BODY_MS_MAX = 2_000;
/** An error is checked for the credential before it is sent, so it is held completely. */
const ERROR_BYTES_MAX = 1024 * 1024;
/** Of an answer about Relay's credential or address only the beginning is read, and none of it is sent. */
const REJECTION_BYTES_MAX = 16 * 1024;

const INVALID = 'upstream_invalid_response';
const INCOMPLETE = { code: INVALID, why: 'the response is not a complete JSON object' } as const;
const REPORTED = { code: INVALID, why: 'the response reports an error' } as const;
const EMPTY = { code: INVALID, why: 'the stream ended before any content', retry: true } as const;
const FRAME_END = Buffer.from('\n\n');

/**
 * Relays the answer to one attempt. While nothing is sent, another attempt can replace this one: a stream is held until its first
 * content, or until its hold ends, any other answer until it is complete. From then on the client gets this answer to its end.
 * `result` settles once, with the usage that the provider reported until then, delivered or not. Answers with the provider's status.
 */
export class Reply implements UpstreamListener, InCharge {
  /** Monotonic time of the provider's head; null until then. */
  headMs: number | null = null;
  /** Set as soon as the request is sent. */
  stopUpstream: (() => void) | null = null;
  readonly result: Promise<AttemptResult>;
  readonly #deps: ReplyDeps;
  readonly #client: SentAnswer;
  #resolve: (result: AttemptResult) => void = () => undefined;
  #mode: 'waiting' | 'buffering' | 'streaming' | 'piping' | 'over' = 'waiting';
  #head: UpstreamHead = NO_HEAD;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  #sent = false;
  /** Relay refuses the answer for this reason once a byte of its body has arrived, because the body may report usage. Null: Relay accepts it. */
  #refusal: string | null = null;
  #reader: StreamReader | null = null;
  #passed: PassedAnswer | null = null;
  /** Usage in the answer, once it was read as a whole. */
  #counted: Counted | null = null;
  /** A complete answer is being read. */
  #judging: Promise<Judged> | null = null;
  #contentMs: number | null = null;
  #hold: StreamHold | null = null;
  #errorBodyTimer: NodeJS.Timeout | null = null;

  constructor(deps: ReplyDeps) {
    this.#deps = deps;
    this.#client = new SentAnswer(deps);
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
    if (this.#client.beganMs === null) this.#finish({ kind: 'stopped' });
    else if (reason === 'client_gone') this.#delivered('cancelled', 'client_disconnected');
    else this.#breakOff(reason.code, reason);
  }

  onSent(): void {
    this.#sent = true;
  }

  onHead(head: UpstreamHead, flow: Flow): void {
    if (this.#mode === 'over') return;
    this.headMs = this.#deps.clock.monotonicMs();
    this.#deps.onHead();
    this.#head = head;
    this.#client.flow = flow;
    const isStream = !isFailure(head.status) && isEventStream(head);
    const encoding = encodingOf(head);
    this.#refusal = isStream ? refusalOfStream(this.#deps, encoding) : null;
    if (!isStream || this.#refusal !== null) {
      this.#mode = 'buffering';
      if (isFailure(head.status)) this.#watchErrorBody();
      return;
    }
    if (encoding === null) {
      this.#mode = 'streaming';
      this.#head = withoutLength(head);
      const { protocol, dropUsageFrame, cleanFrame, choices, clock, holdMs } = this.#deps;
      this.#reader = new StreamReader(protocol.stream, dropUsageFrame, cleanFrame, choices);
      if (holdMs !== null) this.#hold = new StreamHold(clock, holdMs, () => this.#open());
    } else {
      // Compressed although Relay did not ask for it: the bytes are relayed, usage is read from a decoded copy. The head waits for the
      // first of them, which count as content: what they mean is not known in time, and Relay cannot add an error to them.
      this.#passed = PassedAnswer.stream(this.#deps.protocol, head, this.#deps.choices);
      this.#mode = 'piping';
    }
  }

  /** The client gets the head of the stream and what is held of it: no other attempt can replace this one any more. */
  #open(): void {
    this.#hold?.end();
    for (const bytes of this.#reader?.open() ?? []) this.#relay(bytes);
    if (this.#mode !== 'over') this.#commit().flushHead();
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
    else if (this.#client.beganMs === null) this.#finish({ kind: 'failure', fault, held: null });
    else this.#breakOff(fault.code);
  }

  /** Ends an answer of which the client has a part. */
  #breakOff(cause: string, error?: RelayError): void {
    if (this.#mode === 'streaming') {
      this.#endCommitted(cause, error);
      return;
    }
    this.#client.breakOff();
    this.#delivered('failed', cause);
  }

  #buffer(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (isFailure(this.#head.status)) {
      this.#boundError();
      return;
    }
    if (this.#refusal !== null) {
      this.#refuse(this.#refusal);
      return;
    }
    if (this.#bufferedBytes <= BUFFERED_BYTES_MAX) return;
    if (this.#isInspected() || this.#deps.translator !== null) {
      this.#refuse('the response is too large to check or translate');
      return;
    }
    this.#pipeBuffered();
  }

  #pipeBuffered(): void {
    const held = this.#chunks;
    this.#chunks = [];
    this.#mode = 'piping';
    this.#passed = PassedAnswer.whole(this.#deps.protocol, this.#head);
    for (const each of held) this.#pipeChunk(each);
  }

  #endBuffered(): void {
    const head = this.#head;
    if (this.#refusal !== null) {
      this.onFailure({ code: INVALID, why: this.#refusal });
      return;
    }
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const body = only ?? Buffer.concat(this.#chunks, this.#bufferedBytes);
    if (isFailure(head.status)) {
      this.#finish({ kind: 'answer', answer: { ...head, body } });
      return;
    }
    const judge = ({ isSound, counted, errorStatus }: Judged) => {
      this.#judging = null;
      if (isSound) this.#counted = counted;
      if (errorStatus !== null && this.#deps.translator === null) {
        // The client gets the provider's bytes, with a status by which its library reads them as an error.
        this.#finish({ kind: 'failure', fault: REPORTED, held: { ...head, status: errorStatus, body } });
        return;
      }
      const mayPass = isSound || !(mustBeJson(head) || this.#isInspected());
      if (mayPass) this.#finish({ kind: 'answer', answer: { ...head, body } });
      else this.onFailure(INCOMPLETE);
    };
    const judged = judgeAnswer(this.#countDeps, head, body);
    if (judged instanceof Promise) {
      this.#judging = judged;
      void judged.then(judge);
    } else judge(judged);
  }

  #isInspected(): boolean {
    return this.#deps.whole && !isFailure(this.#head.status);
  }

  #refuse(why: string): void {
    this.#client.abortUpstream();
    this.onFailure({ code: INVALID, why });
  }

  /** The provider rejected Relay's credential or address. The status says it all; the body may be missing or cut. */
  #isRejected(): boolean {
    return this.headMs !== null && verdictOfStatus(this.#head.status).rejects !== null;
  }

  #boundError(): void {
    if (this.#isRejected() && this.#bufferedBytes > REJECTION_BYTES_MAX) {
      this.#client.abortUpstream();
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
      this.#client.abortUpstream();
      const held = { ...this.#head, body: this.#inClientsWords(reader.takeHeld()) };
      const why = 'the stream reported an error before any content';
      this.#finish({ kind: 'failure', fault: { code: INVALID, why }, held });
      return;
    }
    if (this.#contentMs === null) this.#watchStart(reader);
    for (const bytes of ready) this.#relay(bytes);
  }

  #watchStart(reader: StreamReader): void {
    if (reader.hasContent) this.#noteContent();
    else if (reader.phase === 'holding' && reader.isKeptAlive && this.#hold?.isSilent === true) this.#open();
  }

  #noteContent(): void {
    if (this.#contentMs !== null) return;
    this.#contentMs = this.#deps.clock.monotonicMs();
    this.#hold?.end();
    this.#deps.onContent(this.#head);
  }

  #relay(bytes: Buffer): void {
    if (this.#mode !== 'over') this.#send(this.#inClientsWords(bytes));
  }

  /** Sends frames in the client's words; the last may be an error in place of what cannot be expressed in them. */
  #send(said: Buffer): void {
    if (said.length > 0) this.#client.write(this.#head, said);
    if (this.#deps.translator?.failure == null || this.#reader?.errored === true) return;
    this.#client.abortUpstream();
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
    if (reader.hasContent || reader.done) this.#noteContent();
    if (reader.phase !== 'open') this.#relay(reader.takeHeld());
    if (reader.done || reader.errored) for (const bytes of rest) this.#relay(bytes);
    // What was relayed last may be untranslatable, which ended the response.
    if (this.#mode === 'streaming') this.#endCommitted('ended_early');
  }

  /**
   * A stream that has reported its end or an error is complete, however its connection closes. Any other stream was interrupted,
   * and the client gets one error event of its protocol.
   */
  #endCommitted(cause: string, error?: RelayError): void {
    const reader = this.#reader;
    if (reader?.errored === true) {
      this.#commit().end();
      this.#delivered('failed', 'upstream_error_frame');
    } else if (reader?.done === true) {
      if (this.#deps.translator !== null) this.#send(this.#deps.translator.end());
      if (this.#mode === 'over') return;
      this.#commit().end();
      if (reader.isBroken) this.#delivered('failed', INVALID);
      else this.#delivered('completed', null);
    } else {
      // An incomplete frame is dropped or ended, so that the client parses the error frame by itself.
      if (reader?.isInsideFrame === true && this.#deps.translator === null) this.#commit().write(FRAME_END);
      const before = this.#deps.translator?.lastWritten ?? reader?.lastRead ?? '';
      const said = error ?? new RelayError('stream_interrupted');
      this.#commit().write(Buffer.from(this.#deps.errorFrame(said, before)));
      this.#commit().end();
      this.#delivered('failed', cause);
    }
  }

  #pipeChunk(chunk: Buffer): void {
    this.#noteContent();
    this.#client.write(this.#head, chunk);
    const room = this.#passed?.push(chunk);
    if (room === undefined) return;
    this.#client.hold();
    void room.then(() => this.#client.letGo());
  }

  async #endPiped(): Promise<void> {
    if (this.#client.beganMs === null) {
      this.onFailure(EMPTY);
      return;
    }
    this.#commit().end();
    const isDone = this.#passed?.isDone() ?? true;
    const isComplete = isDone === true || (await isDone);
    this.#delivered(isComplete ? 'completed' : 'failed', isComplete ? null : 'ended_early');
  }

  #commit(): BodyWriter {
    return this.#client.begin(this.#head);
  }

  #watchErrorBody(): void {
    this.#errorBodyTimer = setTimeout(() => {
      this.#client.abortUpstream();
      const why = `its error (${this.#head.status}) did not fully arrive within ${durationWords(ERROR_BODY_MS_MAX)}`;
      this.onFailure({ code: 'upstream_timeout', why });
    }, ERROR_BODY_MS_MAX);
  }

  #delivered(state: AttemptOutcome, cause: string | null): void {
    const times = { firstByteMs: this.#client.beganMs ?? 0, firstContentMs: this.#contentMs };
    this.#finish({ kind: 'delivered', delivery: { state, cause, status: this.#head.status, ...times } });
  }

  #finish(end: AttemptEnd): void {
    if (this.#mode === 'over') return;
    this.#mode = 'over';
    this.#hold?.end();
    if (this.#errorBodyTimer !== null) clearTimeout(this.#errorBodyTimer);
    this.#client.end();
    const isComplete = end.kind === 'delivered' && end.delivery.state === 'completed';
    const counted = this.#count(isComplete);
    const resolve = (each: Counted) => this.#resolve({ ...end, metered: { sent: this.#sent, ...each } });
    if (counted instanceof Promise) void counted.then(resolve);
    else resolve(counted);
  }

  /** Returns the usage in the bytes that arrived. Waits for bytes that are still being decoded or read. */
  #count(isComplete: boolean): Counted | Promise<Counted> {
    if (this.#counted !== null) return this.#counted;
    if (this.#passed !== null) return this.#passed.count(isComplete);
    if (this.#reader !== null) return this.#reader.count();
    if (this.#judging !== null) return this.#judging.then(({ counted }) => counted ?? this.#countBuffered());
    return this.#countBuffered();
  }

  #countBuffered(): Counted | Promise<Counted> {
    if (this.#bufferedBytes === 0) return NOTHING_COUNTED;
    return countArrived(this.#countDeps, this.#head, this.#chunks);
  }

  get #countDeps(): CountDeps {
    const { exchange, protocol, slices, decoding } = this.#deps;
    return { organizationId: exchange.caller.organizationId, protocol, slices, decoding };
  }
}
