/** The jobs of a client process, and their results. */
export interface ClientSetup {
  readonly url: string;
  readonly token: string;
  readonly model: string;
}

/** Streams read to their end as fast as they come. */
export interface WholeJob extends ClientSetup {
  readonly kind: 'whole';
  readonly streams: number;
  readonly frames: number;
  readonly frameDelayMs: number;
  /** How far apart two clients begin. */
  readonly startGapMs: number;
}

export interface WholeResult {
  readonly streams: number;
  readonly lost: number;
  readonly problems: readonly string[];
}

/** Clients that read a few bytes per second, or everything, until they get a stop command; then they disconnect. */
export interface SlowJob extends ClientSetup {
  readonly kind: 'slow';
  readonly streams: number;
  readonly tagPrefix: string;
  readonly bytesPerSecond: number | null;
}

/** Streams hung up on at a random frame. */
export interface AbortJob extends ClientSetup {
  readonly kind: 'abort';
  readonly streams: number;
  readonly frames: number;
  readonly frameDelayMs: number;
  readonly startGapMs: number;
  readonly tagPrefix: string;
  readonly seed: number;
}

/** When each stream, by its tag, was hung up on. */
export interface HungUpResult {
  readonly abortedAtMs: Readonly<Record<string, number>>;
  readonly receivedBytes: number;
  readonly problems: readonly string[];
}

export type ClientJob = WholeJob | SlowJob | AbortJob;
