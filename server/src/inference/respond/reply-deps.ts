import type { RelayError } from '../../domain/relay-error.ts';
import type { Clock } from '../../kit/clock.ts';
import type { FairSlices } from '../../kit/fair-slices.ts';
import type { OneAtATime } from '../../kit/one-at-a-time.ts';
import type { Protocol } from '../../protocols/protocol.ts';
import type { AnswerTranslator } from '../../protocols/translate/answer-translator.ts';
import type { Exchange, UpstreamHead } from '../exchange.ts';

export interface ReplyDeps {
  readonly exchange: Exchange;
  /** The provider's protocol. */
  readonly protocol: Protocol;
  readonly clock: Clock;
  /** Large answers are read in slices, in which organizations take turns. */
  readonly slices: FairSlices;
  readonly decoding: OneAtATime;
  readonly dropUsageFrame: boolean;
  /** Translates the provider's frames for the client. Null: both speak the same protocol. */
  readonly translator: AnswerTranslator | null;
  /**
   * A guardrail inspects a 2xx before the client gets any of it, or it is translated as a whole, so it has to be a complete JSON object
   * of bounded size.
   */
  readonly whole: boolean;
  /**
   * How long a stream is held, from its head on, so that another attempt can replace it. 0: none is left that could. Null: the client
   * asked for no stream.
   */
  readonly holdMs: number | null;
  /** How many answers the client asked for. */
  readonly choices: () => number;
  /** Called when the provider's response begins. */
  readonly onHead: () => void;
  /** Called when the first content is there, just before the client gets it. */
  readonly onContent: (head: UpstreamHead) => void;
  /** The response headers at the moment the first byte is sent. */
  readonly headersFor: (head: UpstreamHead) => string[];
  /** The frame that tells the client why its stream is not complete. `before`: the frames that the client got last. */
  readonly errorFrame: (error: RelayError, before: string) => string;
  /** An error frame of the provider without the credential that was sent to it. */
  readonly cleanFrame: (frame: Buffer) => Buffer;
}
