import type { Clock } from '../../kit/clock.ts';

/** A stream that fails within this time keeps its status, even if no other attempt is left. */
const HOLD_MS_MIN = 50;
/** Providers send a keep-alive with their first frames; one that comes later fills a silence. */
const SILENCE_MS = 250;

/** How long a stream without content is held, from its head on. */
export class StreamHold {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #timer: NodeJS.Timeout;
  #isOver = false;

  constructor(clock: Clock, holdMs: number, expired: () => void) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    // What has arrived by then is read first: it may be content, or an error that another attempt can replace.
    const expire = () => {
      if (!this.#isOver) expired();
    };
    this.#timer = setTimeout(() => setImmediate(expire), Math.max(holdMs, HOLD_MS_MIN));
  }

  /** True if a keep-alive now tells that the content will take its time. */
  get isSilent(): boolean {
    return this.#clock.monotonicMs() - this.#startMs >= SILENCE_MS;
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
