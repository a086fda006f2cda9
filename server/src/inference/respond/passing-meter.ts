import type { JsonOutline } from '../../kit/json-outline.ts';
import { finish } from '../../kit/slices.ts';
import { BYTES_PER_TOKEN } from '../../protocols/estimate-input.ts';
import { outlineOf } from '../../protocols/outline.ts';
import type { Protocol } from '../../protocols/protocol.ts';
import { type Counted, countedOf, NOTHING_COUNTED } from './counted.ts';
import { StreamReader } from './stream-reader.ts';

/** Matches the beginning of an event stream, whatever its content type is. */
const STREAM_START = /^(?:\u00ef\u00bb\u00bf)?\s*(?:data|event|id|retry)?:/;
const OBJECT_START = /^(?:\u00ef\u00bb\u00bf)?\s*\{/;
/** Bytes that are enough to recognize a stream. */
const START_BYTES = 64;

/** Reads the usage in an answer of any form and size, complete or not, while its bytes pass, and holds none of them. */
export class PassingMeter {
  readonly #protocol: Protocol;
  #start = '';
  #isKnown = false;
  #reader: StreamReader | null = null;
  #outline: JsonOutline | null = null;

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
  }

  push(chunk: Buffer): void {
    if (this.#isKnown) {
      this.#reader?.push(chunk);
      this.#outline?.push(chunk.toString('latin1'));
      return;
    }
    const start = this.#start + chunk.toString('latin1');
    if (STREAM_START.test(start.slice(0, START_BYTES)))
      this.#reader = new StreamReader(this.#protocol.stream, false);
    else if (OBJECT_START.test(start)) this.#outline = outlineOf(this.#protocol.answer.textMembers);
    else if (start.length < START_BYTES) {
      this.#start = start;
      return;
    }
    this.#isKnown = true;
    this.#start = '';
    this.#reader?.push(Buffer.from(start, 'latin1'));
    this.#outline?.push(start);
  }

  /** Returns the usage that arrived so far. */
  count(): Counted {
    if (this.#reader !== null) return this.#reader.count();
    const json = this.#outline?.json() ?? null;
    if (json === null) return NOTHING_COUNTED;
    const { usage } = finish(this.#protocol.answer.read(Buffer.from(json, 'latin1')));
    return countedOf(usage, Math.floor((this.#outline?.textBytes ?? 0) / BYTES_PER_TOKEN));
  }
}
