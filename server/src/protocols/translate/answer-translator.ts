import type { Operation } from '@relay/contract';
import type { SourceShape } from '../../kit/json-source.ts';
import { frameEnd, parseFrame } from '../../kit/sse-frames.ts';
import { errorBody } from './error-shapes.ts';
import { type Failure, shortened } from './failure.ts';
import type { AnswerReader, AnswerWriter, ModelEvent } from './model-events.ts';
import type { Translation, WriterOptions } from './translation.ts';

/** A larger frame is none of an answer's. */
const FRAME_BYTES_MAX = 8 * 1024 * 1024;
/** Names may be the provider's own inventions. */
const LEFT_OUT_MAX = 20;
const NAME_LENGTH_MAX = 80;
const NOTHING = Buffer.alloc(0);

/** Turns one provider's answer into the client's words, frame by frame or as a whole. */
export class AnswerTranslator {
  readonly #reader: AnswerReader;
  readonly #writer: AnswerWriter;
  readonly #client: Operation;
  readonly #requestId: string;
  readonly #leftOut = new Set<string>();
  #tail: Buffer = NOTHING;
  /** The client's frames that were written last. */
  lastWritten = '';

  constructor(translation: Translation, options: WriterOptions) {
    this.#reader = translation.reader(options);
    this.#writer = translation.writer(options);
    this.#client = translation.client;
    this.#requestId = options.requestId;
  }

  /** What the answer had beside its content that the client did not get, so far. */
  get leftOut(): readonly string[] {
    return [...this.#leftOut];
  }

  /** Why the answer could not be translated to its end. The client has been sent an error in its place. */
  get failure(): Failure | null {
    return this.#writer.failure;
  }

  /** The client's frames for those that are complete in what the provider sent so far. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    // One character is one byte here; each frame is decoded by itself.
    const text = bytes.toString('latin1');
    const mixedLineEnds = text.includes('\r');
    const events: ModelEvent[] = [];
    let at = 0;
    for (let end = frameEnd(text, at, mixedLineEnds); end >= 0; end = frameEnd(text, at, mixedLineEnds)) {
      events.push(...this.#read(bytes.toString('utf8', at, end)));
      at = end;
    }
    this.#tail = at === bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
    if (this.#tail.length > FRAME_BYTES_MAX) {
      this.#tail = NOTHING;
      events.push({ kind: 'unknown', what: 'a frame that is too large' });
    }
    return this.#write(events);
  }

  /** The provider's stream is over. */
  end(): Buffer {
    const events: ModelEvent[] = [];
    if (this.#tail.length > 0) events.push(...this.#read(this.#tail.toString('utf8')));
    this.#tail = NOTHING;
    events.push(...this.#reader.end());
    return this.#write(events);
  }

  /** What of a complete answer stays source text. */
  get sources(): SourceShape {
    return this.#reader.sources;
  }

  /** Null when the answer, parsed, cannot be translated; `failure` says why. */
  whole(answer: unknown): unknown {
    const said = this.#writer.whole(this.#said(this.#reader.whole(answer)));
    return this.failure === null ? said : null;
  }

  /** The same as a stream, for a client that asked for one. */
  wholeAsStream(answer: unknown): Buffer {
    return this.#write(this.#reader.whole(answer));
  }

  /** An error of the provider in place of a whole answer. */
  error(failure: Failure, status: number): unknown {
    return errorBody(this.#client, failure, { status, requestId: this.#requestId });
  }

  #read(frame: string): readonly ModelEvent[] {
    const { event, data } = parseFrame(frame);
    return this.#reader.frame(event, data);
  }

  #write(events: readonly ModelEvent[]): Buffer {
    if (this.failure !== null || events.length === 0) return NOTHING;
    const frames = this.#writer.frames(this.#said(events));
    if (frames !== '') this.lastWritten = frames;
    return Buffer.from(frames);
  }

  /** What has no words in any other protocol is only named. */
  #said(events: readonly ModelEvent[]): readonly ModelEvent[] {
    if (!events.some(({ kind }) => kind === 'left_out')) return events;
    for (const event of events)
      if (event.kind === 'left_out' && this.#leftOut.size < LEFT_OUT_MAX)
        this.#leftOut.add(shortened(`response.${event.what}`, NAME_LENGTH_MAX));
    return events.filter(({ kind }) => kind !== 'left_out');
  }
}
