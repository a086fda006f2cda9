import { type SseFrame, withoutMark } from '../../kit/sse-frames.ts';
import { outlineOf } from '../../protocols/outline.ts';

const EVENT_BYTES_MAX = 200;
/** The longest name of a field that matters, with its colon. */
const FIELD_BYTES = 'event:'.length;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
/** Replaces data that is not an object. */
const OTHER_DATA = '-';

/** Reads one frame of any size, line by line while its bytes pass, and holds none of them. */
export class PassingFrame {
  readonly #outline;
  #event: string | null = null;
  #hasData = false;
  #field: 'unknown' | 'data' | 'event' | 'other' = 'unknown';
  /** The beginning of the line, while its field is unknown or `event`. */
  #line = '';
  /** True until a character of the line was read. */
  #isBlank = true;
  #afterReturn = false;

  constructor(textMembers: ReadonlySet<string>) {
    this.#outline = outlineOf(textMembers);
  }

  /** True if the data was one whole object. */
  get isComplete(): boolean {
    return this.#outline.isComplete;
  }

  get textBytes(): number {
    return this.#outline.textBytes;
  }

  /** The frame so far, with the outline of its data. */
  get frame(): SseFrame {
    const event = this.#field === 'event' ? eventIn(this.#line) : this.#event;
    return { event, data: this.#hasData ? (this.#outline.json() ?? OTHER_DATA) : '' };
  }

  /** Returns the position past the blank line that ends the frame; -1 while the frame continues. */
  push(text: string): number {
    const hasReturns = text.includes('\r');
    let at = this.#afterReturn && text.charCodeAt(0) === LINE_FEED ? 1 : 0;
    if (text !== '') this.#afterReturn = false;
    while (at < text.length) {
      const end = lineEnd(text, at, hasReturns);
      if (end !== at) this.#take(text.slice(at, end < 0 ? text.length : end));
      if (end < 0) return -1;
      at = end + 1;
      if (text.charCodeAt(end) === RETURN) {
        if (text.charCodeAt(at) === LINE_FEED) at += 1;
        else this.#afterReturn = at === text.length;
      }
      if (this.#isBlank) return at;
      this.#endLine();
    }
    return -1;
  }

  #take(part: string): void {
    this.#isBlank = false;
    if (this.#field === 'data') this.#outline.push(part);
    else if (this.#field === 'event') this.#line = (this.#line + part).slice(0, EVENT_BYTES_MAX);
    else if (this.#field === 'unknown') {
      const line = withoutMark(this.#line + part);
      if (line.length >= FIELD_BYTES || line.startsWith('data:')) this.#begin(line);
      else this.#line = line;
    }
  }

  #begin(line: string): void {
    this.#line = '';
    if (line.startsWith('data:')) {
      this.#field = 'data';
      this.#hasData = true;
      this.#outline.push(line.slice('data:'.length));
    } else if (line.startsWith('event:')) {
      this.#field = 'event';
      this.#line = line.slice(0, EVENT_BYTES_MAX);
    } else this.#field = 'other';
  }

  #endLine(): void {
    if (this.#field === 'event') this.#event = eventIn(this.#line);
    else if (this.#field === 'data') this.#outline.push('\n');
    this.#field = 'unknown';
    this.#line = '';
    this.#isBlank = true;
  }
}

function eventIn(line: string): string {
  return line.slice('event:'.length).trim();
}

function lineEnd(text: string, from: number, hasReturns: boolean): number {
  const feed = text.indexOf('\n', from);
  if (!hasReturns) return feed;
  const back = text.indexOf('\r', from);
  return back >= 0 && (feed < 0 || back < feed) ? back : feed;
}
