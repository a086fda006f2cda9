import { frameEnd, parseFrame } from '../../kit/sse-frames.ts';
import type { AnswerReader, AnswerWriter, Failure, ModelEvent } from './model-events.ts';
import type { Translation, WriterOptions } from './translation.ts';

/** A larger frame is none of an answer's. */
const FRAME_BYTES_MAX = 8 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** Turns one provider's answer into the client's words, frame by frame or as a whole. */
export class AnswerTranslator {
  readonly #reader: AnswerReader;
  readonly #writer: AnswerWriter;
  #tail: Buffer = NOTHING;

  constructor(translation: Translation, options: WriterOptions) {
    this.#reader = translation.reader();
    this.#writer = translation.writer(options);
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

  /** Null when the answer, parsed, cannot be translated; `failure` says why. */
  whole(answer: unknown): unknown {
    const said = this.#writer.whole(this.#reader.whole(answer));
    return this.failure === null ? said : null;
  }

  #read(frame: string): readonly ModelEvent[] {
    const { event, data } = parseFrame(frame);
    return this.#reader.frame(event, data);
  }

  #write(events: readonly ModelEvent[]): Buffer {
    if (this.failure !== null || events.length === 0) return NOTHING;
    return Buffer.from(this.#writer.frames(events));
  }
}
