import { INPUT_PARTS, OUTPUT_PARTS, type Usage } from '../../domain/money/usage.ts';
import { frameEnd, parseFrame } from '../../kit/sse-frames.ts';
import type { FrameMeaning, StreamRules } from '../../protocols/protocol.ts';

const HELD_FRAMES_MAX = 64;
const HELD_BYTES_MAX = 256 * 1024;
/** A larger frame is relayed in parts, which bounds memory. */
const TAIL_BYTES_MAX = 256 * 1024;
const TOKEN_BYTES = 4;
/** A single token can be a long word. A frame with more text than this has several. */
const LONG_TOKEN_BYTES = 16;
const COUNTS = ['inputTokens', 'outputTokens', ...INPUT_PARTS, ...OUTPUT_PARTS] as const;
/** Below this size copying is cheaper than avoiding it. */
const LARGE_CHUNK_BYTES = 8 * 1024;

/**
 * Takes a provider's stream chunk by chunk and returns the bytes that may be sent to the client now. Bytes are never changed or
 * reordered, only held back: the preamble until content arrives, an incomplete frame until it is complete, and the usage
 * frame permanently when only Relay asked for it.
 */
export class StreamReader {
  /** `refused`: the provider reported an error before any content, so the request can fall back to another endpoint. */
  phase: 'holding' | 'open' | 'refused' = 'holding';
  /** The protocol's own end was read. */
  done = false;
  /** The provider reported an error after content was relayed. */
  errored = false;
  /** What was reported so far; null when nothing was. */
  counts: Partial<Usage> | null = null;
  /** Output so far, for a stream that reports no usage: each frame is a token, and one with more text as many as its bytes suggest. */
  streamedTokens = 0;
  /** The fewest bytes that were around the text of a frame. */
  #envelopeBytes = 0;

  readonly #rules: StreamRules;
  readonly #dropUsageFrame: boolean;
  readonly #cleanError: (frame: Buffer) => Buffer;
  #held: Buffer[] = [];
  #heldFrames = 0;
  #heldBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  /** Whether the text that is being read has carriage returns. */
  #mixedLineEnds = false;

  /** `cleanError`: an error frame as the client may see it. */
  constructor(
    rules: StreamRules,
    dropUsageFrame: boolean,
    cleanError: (frame: Buffer) => Buffer = (frame) => frame,
  ) {
    this.#rules = rules;
    this.#dropUsageFrame = dropUsageFrame;
    this.#cleanError = cleanError;
  }

  /** Null unless input and output were reported. */
  get usage(): Usage | null {
    const { inputTokens, outputTokens, cachedInputTokens = 0, ...writes } = this.counts ?? {};
    if (inputTokens === undefined || outputTokens === undefined) return null;
    return { inputTokens, outputTokens, cachedInputTokens, ...writes };
  }

  push(chunk: Buffer): Buffer[] {
    if (this.#tailBytes > 0 && chunk.length > LARGE_CHUNK_BYTES) {
      const first = this.#takeFirstFrame(chunk);
      if (first !== null) return [...this.#read(first.frame), ...this.#read(first.rest)];
    }
    const data = this.#joinTail(chunk);
    return data === null ? [] : this.#read(data);
  }

  #read(data: Buffer): Buffer[] {
    const text = data.toString('latin1');
    const out: Buffer[] = [];
    this.#mixedLineEnds = text.includes('\r');
    let at = this.phase === 'holding' ? this.#hold(data, text, out) : 0;
    if (this.phase === 'open') at = this.#relay(data, text, at, out);
    if (at < data.length) this.#keepTail(data.subarray(at), out);
    return out;
  }

  /** Called at the end of the stream. A last frame without its blank line counts. */
  end(): Buffer[] {
    if (this.#tailBytes === 0) return [];
    const tail = Buffer.concat(this.#tail);
    this.#tail = [];
    this.#tailBytes = 0;
    const meaning = this.#readFrame(tail.toString('latin1'));
    return [meaning.kind === 'error' ? this.#cleanError(tail) : tail];
  }

  /** Everything held back so far, for when no other attempt is left. */
  takeHeld(): Buffer {
    const held = Buffer.concat([...this.#held, ...this.#tail]);
    this.#held = [];
    this.#tail = [];
    this.#tailBytes = 0;
    return this.phase === 'refused' ? this.#cleanError(held) : held;
  }

  /** Joins only the frame that spans the tail and the chunk, so that the rest of a large chunk is relayed without a copy. */
  #takeFirstFrame(chunk: Buffer): { frame: Buffer; rest: Buffer } | null {
    const text = Buffer.concat(this.#tail, this.#tailBytes).toString('latin1') + chunk.toString('latin1');
    // Only the byte after a carriage return tells whether the frame ends there, and it may be in the next chunk.
    const end = text.includes('\r') ? -1 : frameEnd(text, 0, false);
    if (end < 0) return null;
    const inChunk = end - this.#tailBytes;
    const frame = Buffer.concat([...this.#tail, chunk.subarray(0, inChunk)], end);
    this.#tail = [];
    this.#tailBytes = 0;
    return { frame, rest: chunk.subarray(inChunk) };
  }

  /** Null while the tail cannot contain a complete frame: chunks without a line end are only collected. */
  #joinTail(chunk: Buffer): Buffer | null {
    if (this.#tailBytes === 0) return chunk;
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    const mayEnd = chunk.includes(0x0a) || chunk.includes(0x0d);
    if (!mayEnd && this.#tailBytes <= TAIL_BYTES_MAX) return null;
    const data = Buffer.concat(this.#tail, this.#tailBytes);
    this.#tail = [];
    this.#tailBytes = 0;
    return data;
  }

  #keepTail(rest: Buffer, out: Buffer[]): void {
    if (rest.length > TAIL_BYTES_MAX) {
      if (this.phase === 'holding') this.#open(out);
      out.push(rest);
      return;
    }
    // A copy, because a slice would retain the complete chunk (or a block of Node's pool) until a slow client lets the
    // next chunk through.
    const kept = Buffer.allocUnsafeSlow(rest.length);
    rest.copy(kept);
    this.#tail.push(kept);
    this.#tailBytes = rest.length;
  }

  #hold(data: Buffer, text: string, out: Buffer[]): number {
    let at = 0;
    while (this.phase === 'holding') {
      const end = frameEnd(text, at, this.#mixedLineEnds);
      if (end < 0) return at;
      const meaning = this.#readFrame(text.slice(at, end));
      if (!(meaning.usageOnly && this.#dropUsageFrame)) this.#held.push(data.subarray(at, end));
      this.#heldFrames += 1;
      this.#heldBytes += end - at;
      at = end;
      if (meaning.kind === 'error') {
        this.phase = 'refused';
        this.#held.push(data.subarray(at));
        return data.length;
      }
      const full = this.#heldFrames >= HELD_FRAMES_MAX || this.#heldBytes >= HELD_BYTES_MAX;
      if (meaning.kind !== 'preamble' || full) this.#open(out);
    }
    return at;
  }

  #open(out: Buffer[]): void {
    this.phase = 'open';
    out.push(...this.#held);
    this.#held = [];
  }

  #relay(data: Buffer, text: string, from: number, out: Buffer[]): number {
    const noteworthy = this.#rules.noteworthy.test(text);
    let start = from;
    let at = from;
    for (;;) {
      const end = frameEnd(text, at, this.#mixedLineEnds);
      if (end < 0) break;
      if (noteworthy) {
        const meaning = this.#readFrame(text.slice(at, end));
        const dropped = meaning.usageOnly && this.#dropUsageFrame;
        if (dropped || meaning.kind === 'error') {
          if (at > start) out.push(data.subarray(start, at));
          if (!dropped) out.push(this.#cleanError(data.subarray(at, end)));
          start = end;
        }
      } else {
        this.#countFrame(text, at, end);
      }
      at = end;
    }
    if (at > start) out.push(start === 0 && at === data.length ? data : data.subarray(start, at));
    return at;
  }

  /**
   * Counted as one each, frames of hundreds of tokens would let a client that hangs up before the usage pay for one. Most frames have
   * a token, which their length shows.
   */
  #countFrame(text: string, start: number, end: number): void {
    const frameBytes = end - start;
    if (this.#envelopeBytes > 0 && frameBytes - this.#envelopeBytes <= LONG_TOKEN_BYTES) {
      this.streamedTokens += 1;
      return;
    }
    const textBytes = this.#rules.textBytes(text.slice(start, end));
    const envelopeBytes = frameBytes - textBytes;
    if (this.#envelopeBytes === 0 || envelopeBytes < this.#envelopeBytes) this.#envelopeBytes = envelopeBytes;
    this.streamedTokens += textBytes <= LONG_TOKEN_BYTES ? 1 : Math.floor(textBytes / TOKEN_BYTES);
  }

  #count(reported: Partial<Usage>): void {
    this.counts =
      this.#rules.usage === 'last' || this.counts === null ? reported : largestOf(this.counts, reported);
  }

  #readFrame(text: string): FrameMeaning {
    const meaning = this.#rules.readFrame(parseFrame(text));
    if (meaning.usage !== null) this.#count(meaning.usage);
    if (meaning.kind === 'content') this.#countFrame(text, 0, text.length);
    else if (meaning.kind === 'done') this.done = true;
    else if (meaning.kind === 'error') this.errored = true;
    return meaning;
  }
}

function largestOf(known: Partial<Usage>, reported: Partial<Usage>): Partial<Usage> {
  const largest: Partial<Record<(typeof COUNTS)[number], number>> = {};
  for (const name of COUNTS) {
    const count = Math.max(known[name] ?? -1, reported[name] ?? -1);
    if (count >= 0) largest[name] = count;
  }
  const serviceTier = reported.serviceTier ?? known.serviceTier;
  return { ...largest, ...(serviceTier !== undefined && { serviceTier }) };
}
