import type { Protocol } from '../../protocols/protocol.ts';
import type { UpstreamHead } from '../exchange.ts';
import type { Counted } from './counted.ts';
import { DecodedCopy } from './decoded-copy.ts';
import { PassingMeter } from './passing-meter.ts';
import { StreamReader } from './stream-reader.ts';
import { encodingOf } from './upstream-head.ts';

/** Reads an answer that Relay passes on byte for byte; reads a decoded copy if the answer is encoded. */
export class PassedAnswer {
  readonly #reader: StreamReader | PassingMeter;
  /** Null: the answer is not encoded. */
  readonly #copy: DecodedCopy | null;

  private constructor(reader: StreamReader | PassingMeter, head: UpstreamHead) {
    this.#reader = reader;
    const encoding = encodingOf(head);
    this.#copy = encoding === null ? null : new DecodedCopy(encoding, (chunk) => reader.push(chunk));
  }

  static stream({ stream }: Protocol, head: UpstreamHead, choices: () => number): PassedAnswer {
    return new PassedAnswer(new StreamReader(stream, false, undefined, choices), head);
  }

  static whole(protocol: Protocol, head: UpstreamHead): PassedAnswer {
    return new PassedAnswer(new PassingMeter(protocol), head);
  }

  /** Resolves when there is room for more; undefined where there is. */
  push(chunk: Buffer): Promise<unknown> | undefined {
    if (this.#copy !== null) return this.#copy.push(chunk);
    this.#reader.push(chunk);
    return undefined;
  }

  /** True if a stream has reported its end. Streams that Relay cannot read, and other answers, count as complete. */
  isDone(): true | Promise<boolean> {
    const reader = this.#reader;
    if (reader instanceof PassingMeter) return true;
    const isDone = async () => {
      await this.#copy?.end();
      reader.end();
      return (reader.done && !reader.isBroken) || this.#copy?.isReadable === false;
    };
    return isDone();
  }

  /** Waits for bytes that are still being decoded. */
  count(isComplete: boolean): Counted | Promise<Counted> {
    const copy = this.#copy;
    if (copy === null) return this.#reader.count();
    return copy.end().then(() => {
      const counted = this.#reader.count();
      // If reading stopped before the end, the text so far is not the output of the answer.
      return isComplete && !copy.isReadable ? { ...counted, streamedTokens: 0 } : counted;
    });
  }
}
