/** A calendar window with what was used of it, and its limit, if it has one. */
export interface UsedWindow {
  readonly startMs: number;
  /** Exclusive. */
  readonly endMs: number;
  readonly used: number;
  /** Null: there is none to reach. */
  readonly limit: number | null;
}

interface Forecast {
  readonly perHour: number;
  /** What is used when the window ends. */
  readonly atEnd: number;
  /** When the limit is reached: now if it is, and null if not before the window's end. */
  readonly exhaustedMs: number | null;
}

const HOUR_MS = 3_600_000;
/** A pace over less of the window says little: one busy minute after midnight does not predict the day. */
const SEEN_SHARE_MIN = 0.1;
/** Unless so much of the limit is gone by then. */
const TELLING_SHARE = 0.5;

/** Whether too little of the window has passed for its pace to tell anything. */
export function isEarly({ startMs, endMs }: Pick<UsedWindow, 'startMs' | 'endMs'>, nowMs: number): boolean {
  return nowMs - startMs < SEEN_SHARE_MIN * (endMs - startMs);
}

/** What becomes of a window at its pace so far: the one rule for alerts, limits and spend. */
export function forecastOf(window: UsedWindow, nowMs: number): Forecast {
  const { startMs, endMs, used, limit } = window;
  const passedMs = Math.max(1, nowMs - startMs);
  return {
    perHour: (used / passedMs) * HOUR_MS,
    atEnd: Math.max(used, used * ((endMs - startMs) / passedMs)),
    exhaustedMs: limit === null ? null : exhaustedMsOf({ ...window, limit }, passedMs, nowMs),
  };
}

/** The same for people who look: null while it is early, unless nothing or half of the limit is used by then. */
export function tellingForecast(window: UsedWindow, nowMs: number): Forecast | null {
  const { used, limit } = window;
  const isTelling = used === 0 || (limit !== null && used >= TELLING_SHARE * limit);
  return isEarly(window, nowMs) && !isTelling ? null : forecastOf(window, nowMs);
}

function exhaustedMsOf(
  { startMs, endMs, used, limit }: UsedWindow & { readonly limit: number },
  passedMs: number,
  nowMs: number,
): number | null {
  if (nowMs >= endMs) return null;
  if (used >= limit) return nowMs;
  if (used <= 0) return null;
  const atMs = Math.max(nowMs, Math.ceil(startMs + passedMs * (limit / used)));
  return atMs < endMs ? atMs : null;
}
