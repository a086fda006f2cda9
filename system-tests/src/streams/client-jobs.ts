/** What a process of clients can be told to do, and what it says when it is done. */
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

/** Clients that take a little every second, or all they can get, until they are told to stop; then they hang up. */
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
