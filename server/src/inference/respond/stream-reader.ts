import type { Usage } from '../../domain/money/usage.ts';
import { frameEnd, parseFrame } from '../../kit/sse-frames.ts';
import { BYTES_PER_TOKEN } from '../../protocols/estimate-input.ts';
import type { FrameMeaning, StreamRules } from '../../protocols/protocol.ts';
import { hasCounts, inFull, largestOf } from '../../protocols/reported-usage.ts';
import { type Counted, countedOf } from './counted.ts';
import { PassingFrame } from './passing-frame.ts';

const HELD_FRAMES_MAX = 64;
const HELD_BYTES_MAX = 256 * 1024;
/** In bytes. A larger frame is relayed in parts, which bounds memory, and read while they pass. */
const TAIL_BYTES_MAX = 256 * 1024;
/** A single token can be a long word. A frame with more text than this has several. */
const LONG_TOKEN_BYTES = 16;
/** A frame of content without text has something else if it is larger, such as sound: it counts as a token. */
const EMPTY_FRAME_BYTES_MAX = 1024;
/** Below this size copying is cheaper than avoiding it. */
const LARGE_CHUNK_BYTES = 8 * 1024;

/** More than an event that numbers itself has after its number, and little for a stream to keep while its client reads slowly. */
const LAST_READ_BYTES = 4 * 1024;

/** Begins a comment. */
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;
const LINE_ENDS = /[\r\n]+$/;
/** The line ends of most frames. */
const FRAME_END_BYTES = 2;

/**
 * Takes a provider's stream chunk by chunk and returns the bytes that may be sent to the client now. Bytes are never changed or
 * reordered, only held back: the preamble until content arrives or `open` is called, an incomplete frame until it is complete, and
 * the usage frame permanently when only Relay asked for it.
 */
export class StreamReader {
  /** `refused`: the provider reported an error while its frames were held, so the request can fall back to another endpoint. */
  phase: 'holding' | 'open' | 'refused' = 'holding';
  /** A frame with content was read, or one that ends the content. */
  hasContent = false;
  /** The chunk that was read last has a keep-alive, before any content. */
  isKeptAlive = false;
  /** The protocol's own end was read, or the stream ended after every choice had. */
  done = false;
  /** The provider reported an error after the stream was opened. */
  errored = false;
  /** A complete frame has data that is cut or garbled. */
  isBroken = false;
  /** The end of what was read last, unless it was a comment. */
  lastRead = '';
  /** Counts that the stream has reported so far, without the service tier. Null: none. */
  #counts: Partial<Usage> | null = null;
  /** Null: the standard tier. Undefined: no frame has named a tier. */
  #tier: string | null | undefined = undefined;
  /**
   * Output so far, for a stream that reports no usage: each frame with text is a token, and one with more text as many as its bytes suggest.
   */
  streamedTokens = 0;
  /** The fewest bytes that were around the text of a frame. */
  #envelopeBytes = 0;
  #noteworthy: RegExp;
  /** The frame that is relayed in parts. Null: none. */
  #passing: PassingFrame | null = null;

  readonly #rules: StreamRules;
  readonly #dropUsageFrame: boolean;
  readonly #cleanError: (frame: Buffer) => Buffer;
  readonly #choices: () => number;
  /** The choices that ended, by index. */
  readonly #finished = new Set<number>();
  #held: Buffer[] = [];
  #heldFrames = 0;
  #heldBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  /** Whether the text that is being read has carriage returns. */
  #mixedLineEnds = false;

  /** `cleanError`: an error frame as the client may see it. `choices`: how many were asked for. */
  constructor(
    rules: StreamRules,
    dropUsageFrame: boolean,
    cleanError: (frame: Buffer) => Buffer = (frame) => frame,
    choices: () => number = () => 1,
  ) {
    this.#rules = rules;
    this.#noteworthy = rules.noteworthyWithTier ?? rules.noteworthy;
    this.#dropUsageFrame = dropUsageFrame;
    this.#cleanError = cleanError;
    this.#choices = choices;
  }

  /** Null unless input and output were reported. */
  get usage(): Usage | null {
    return inFull(this.#reported);
  }

  /** Ends the stream. An incomplete last frame counts with the usage that it has reported. */
  count(): Counted {
    if (this.#passing !== null) this.#countPassing(this.#passing);
    else if (this.#tailBytes > 0) this.#readPart(Buffer.concat(this.#tail).toString('latin1'));
    this.#passing = null;
    this.#tail = [];
    this.#tailBytes = 0;
    return countedOf(this.#reported, this.streamedTokens);
  }

  /** True if the client has a part of a frame. */
  get isInsideFrame(): boolean {
    return this.#passing !== null;
  }

  get #reported(): Partial<Usage> | null {
    if (this.#tier === undefined) return this.#counts;
    const { serviceTier: _earlier, ...counts } = this.#counts ?? {};
    if (this.#tier !== null) return { ...counts, serviceTier: this.#tier };
    return this.#counts === null ? null : counts;
  }

  push(chunk: Buffer): Buffer[] {
    if (this.#passing !== null) return this.#pass(this.#passing, chunk);
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
    if (text.charCodeAt(0) !== COLON) this.lastRead = endOf(text);
    this.#mixedLineEnds = text.includes('\r');
    let at = 0;
    if (this.phase === 'refused') at = this.#readOn(text, 0);
    else if (!this.hasContent) at = this.#readStart(data, text, out);
    if (this.hasContent) at = this.#relay(data, text, at, out);
    if (at < data.length) this.#keepTail(data.subarray(at), out);
    return out;
  }

  /** Called at the end of the stream, unless it broke. A last frame without its blank line counts. */
  end(): Buffer[] {
    if (this.#passing !== null) this.#endPassing(this.#passing);
    const rest = this.#endTail();
    // Some providers send no end of their own.
    if (this.#finished.size > 0 && this.#finished.size >= this.#choices()) this.done = true;
    return rest;
  }

  #endTail(): Buffer[] {
    if (this.#tailBytes === 0) return [];
    const tail = Buffer.concat(this.#tail);
    this.#tail = [];
    this.#tailBytes = 0;
    const text = tail.toString('latin1');
    const meaning = this.#readFrame(text);
    if (meaning.usage === null) this.#readPart(text);
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
      if (this.phase === 'holding') out.push(...this.open());
      this.hasContent = true;
      out.push(...this.#pass(new PassingFrame(this.#rules.textMembers), rest));
      return;
    }
    // A copy, because a slice would retain the complete chunk (or a block of Node's pool) until a slow client lets the
    // next chunk through.
    const kept = Buffer.allocUnsafeSlow(rest.length);
    rest.copy(kept);
    this.#tail.push(kept);
    this.#tailBytes = rest.length;
  }

  #pass(frame: PassingFrame, chunk: Buffer): Buffer[] {
    const end = frame.push(chunk.toString('latin1'));
    this.#passing = frame;
    if (end < 0) return [chunk];
    this.#endPassing(frame);
    return end === chunk.length ? [chunk] : [chunk.subarray(0, end), ...this.#read(chunk.subarray(end))];
  }

  #endPassing(frame: PassingFrame): void {
    this.#passing = null;
    const { kind } = this.#countPassing(frame);
    // An incomplete frame reports the usage that it has, but it does not end the stream.
    if (!frame.isComplete) {
      if (frame.frame.data.startsWith('{')) this.isBroken = true;
      return;
    }
    if (kind === 'done') this.done = true;
    else if (kind === 'error') this.errored = true;
  }

  #countPassing({ frame, textBytes }: PassingFrame): FrameMeaning {
    const meaning = this.#rules.readFrame(frame);
    this.#count(meaning);
    if (this.#rules.notText?.test(frame.data) !== true)
      this.streamedTokens += Math.floor(textBytes / BYTES_PER_TOKEN);
    return meaning;
  }

  /** Usage may follow an error, or be in a frame that was cut. */
  #readOn(text: string, from: number): number {
    let at = from;
    for (;;) {
      const end = frameEnd(text, at, this.#mixedLineEnds);
      if (end < 0) return at;
      this.#count(this.#rules.readFrame(parseFrame(text.slice(at, end))));
      at = end;
    }
  }

  #readPart(text: string): void {
    const part = new PassingFrame(this.#rules.textMembers);
    part.push(text);
    this.#count(this.#rules.readFrame(part.frame));
  }

  /** Parses every frame before the first content: the stream may still be refused, and the time of its content is noted. */
  #readStart(data: Buffer, text: string, out: Buffer[]): number {
    let at = 0;
    this.isKeptAlive = false;
    while (!this.hasContent) {
      const end = frameEnd(text, at, this.#mixedLineEnds);
      if (end < 0) return at;
      const meaning = this.#readFrame(text.slice(at, end));
      const frame = data.subarray(at, end);
      at = end;
      if (meaning.isBroken === true) this.isBroken = true;
      if (meaning.kind === 'error' && this.phase === 'holding') return this.#refuse(data, text, at, frame);
      if (meaning.kind === 'keep_alive') this.isKeptAlive = true;
      else if (meaning.kind !== 'preamble' && meaning.kind !== 'error') this.hasContent = true;
      const shown = meaning.kind === 'error' ? this.#cleanError(frame) : frame;
      const goesTo = this.phase === 'open' ? out : this.#held;
      if (!(meaning.usageOnly && this.#dropUsageFrame)) goesTo.push(shown);
      if (this.phase === 'holding') this.#bound(frame, out);
    }
    return at;
  }

  #refuse(data: Buffer, text: string, at: number, frame: Buffer): number {
    this.phase = 'refused';
    this.#held.push(frame, data.subarray(at));
    const rest = this.#readOn(text, at);
    if (rest < text.length) this.#readPart(text.slice(rest));
    return data.length;
  }

  /** Holds frames until there is content, or more than may be held. */
  #bound(frame: Buffer, out: Buffer[]): void {
    this.#heldFrames += 1;
    this.#heldBytes += frame.length;
    const isFull = this.#heldFrames >= HELD_FRAMES_MAX || this.#heldBytes >= HELD_BYTES_MAX;
    if (this.hasContent || isFull) out.push(...this.open());
  }

  /** Returns what is held: from now on no other attempt can replace the stream. */
  open(): Buffer[] {
    this.phase = 'open';
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #relay(data: Buffer, text: string, from: number, out: Buffer[]): number {
    const noteworthy = this.#noteworthy.test(text);
    let start = from;
    let at = from;
    for (;;) {
      const end = frameEnd(text, at, this.#mixedLineEnds);
      if (end < 0) break;
      if (noteworthy) {
        const meaning = this.#readFrame(text.slice(at, end));
        if (meaning.isBroken === true) this.isBroken = true;
        const dropped = meaning.usageOnly && this.#dropUsageFrame;
        if (dropped || meaning.kind === 'error') {
          if (at > start) out.push(data.subarray(start, at));
          if (!dropped) out.push(this.#cleanError(data.subarray(at, end)));
          start = end;
        }
      } else {
        this.#countFrame(text, at, end);
        if (text.charCodeAt(end - FRAME_END_BYTES - 1) !== CLOSE_BRACE) this.#checkEnd(text.slice(at, end));
      }
      at = end;
    }
    if (at > start) out.push(start === 0 && at === data.length ? data : data.subarray(start, at));
    return at;
  }

  /** Few frames do not end as an object does, and only those are parsed. */
  #checkEnd(frame: string): void {
    if (frame.replace(LINE_ENDS, '').endsWith('}')) return;
    if (this.#rules.readFrame(parseFrame(frame)).isBroken === true) this.isBroken = true;
  }

  /**
   * Counted as one each, frames of hundreds of tokens would let a client that hangs up before the usage pay for one. Most frames have
   * a token, which their length shows: a little more than what is around the text.
   */
  #countFrame(text: string, start: number, end: number): void {
    const frameBytes = end - start;
    const beyondBytes = frameBytes - this.#envelopeBytes;
    if (this.#envelopeBytes > 0 && beyondBytes > 0 && beyondBytes <= LONG_TOKEN_BYTES) {
      this.streamedTokens += 1;
      return;
    }
    const textBytes = this.#rules.textBytes(text.slice(start, end));
    if (textBytes === 0) {
      if (frameBytes > EMPTY_FRAME_BYTES_MAX) this.streamedTokens += 1;
      return;
    }
    const envelopeBytes = frameBytes - textBytes;
    if (this.#envelopeBytes === 0 || envelopeBytes < this.#envelopeBytes) this.#envelopeBytes = envelopeBytes;
    this.streamedTokens += textBytes <= LONG_TOKEN_BYTES ? 1 : Math.floor(textBytes / BYTES_PER_TOKEN);
  }

  #count({ kind, usage, serviceTier }: FrameMeaning): void {
    if (serviceTier !== undefined) {
      this.#tier = serviceTier;
      this.#noteworthy = this.#rules.noteworthy;
    }
    if (usage === null || (kind === 'error' && !hasCounts(usage))) return;
    this.#counts = this.#counts === null ? usage : largestOf(this.#counts, usage);
  }

  #readFrame(text: string): FrameMeaning {
    const meaning = this.#rules.readFrame(parseFrame(text));
    this.#count(meaning);
    if (meaning.finished !== undefined) for (const choice of meaning.finished) this.#finished.add(choice);
    if (meaning.kind === 'content') this.#countFrame(text, 0, text.length);
    else if (meaning.kind === 'done') this.done = true;
    else if (meaning.kind === 'error') this.errored = true;
    return meaning;
  }
}

/** A copy, because a part of a string keeps all of it in memory. */
function endOf(text: string): string {
  if (text.length <= LAST_READ_BYTES) return text;
  return Buffer.from(text.slice(-LAST_READ_BYTES), 'latin1').toString('latin1');
}
