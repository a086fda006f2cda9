/** Usage that the provider wrote into an answer. Without a count of the input or the output it is a report in part. */
export interface Report {
  readonly input?: number;
  readonly cached?: number;
  readonly output?: number;
}

/** Bytes of an answer, and what they report. */
export interface Piece {
  readonly bytes: Buffer;
  readonly report?: Report;
}

/** What the provider does with one request. */
export interface Play {
  /** Null: it says nothing. A text is written as it is: an incomplete head. */
  readonly head: Head | string | null;
  readonly framing: 'length' | 'chunked';
  readonly pieces: readonly Piece[];
  /** How many bytes more than those of the pieces are announced. */
  readonly missing?: number;
  /** A pause before each piece, in which Relay may hang up: what follows what it refuses is then never written. */
  readonly gapMs?: number;
  /** A pause before the last piece. */
  readonly pauseMs?: number;
  /** `cut`: the connection ends without the end of the answer. `hold`: it stays open, and nothing more is written. */
  readonly end: 'clean' | 'cut' | 'hold';
  /** Written after the end of the answer. */
  readonly trailing?: string;
}

export interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** One request as the provider saw it, and what it told. */
export interface Billed {
  /** The endpoint that the request was for. */
  readonly endpoint: string;
  readonly atMs: number;
  /** In the order in which they were written. */
  readonly reports: Report[];
  /** Resolves when the provider has written what it will. */
  readonly played: Promise<void>;
}

/** What the provider told in all: of several counts the largest. Null: nothing. */
export function toldIn(reports: readonly Report[]): Report | null {
  if (reports.length === 0) return null;
  const largest = (of: (report: Report) => number | undefined) => {
    const counts = reports.map(of).filter((count) => count !== undefined);
    return counts.length === 0 ? undefined : Math.max(...counts);
  };
  const input = largest(({ input: count }) => count);
  const output = largest(({ output: count }) => count);
  const cached = largest(({ cached: count }) => count);
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(cached === undefined ? {} : { cached }),
  };
}
