import type { HealthRecord, HealthReport, SeenError } from '../../domain/routing/health-record.ts';

const CALLERS_MAX = 8;

/** A fault of an attempt, as it counts for an endpoint or a credential. */
export interface SeenFault {
  readonly caller: string;
  /** No content of a request can cause it. */
  readonly hard: boolean;
  readonly error: SeenError;
  readonly sentMs: number;
  readonly probe: boolean;
}

interface PendingFaults {
  count: number;
  hard: number;
  readonly firstMs: number;
  lastMs: number;
  caller: string | null;
  sentMs: number;
  othersOkMs: number | null;
}

/**
 * An endpoint or a credential as this process knows it: the shared record, and what was seen since the last report. Counting a
 * success only changes numbers.
 */
export class HealthSubject {
  readonly organizationId: string;
  /** `endpoint:<id>` or `credential:<id>`. */
  readonly name: string;
  /** The configuration that its requests are sent with. */
  readonly of: string;
  record: HealthRecord | null = null;
  /** The record as it is stored. */
  text: string | null = null;
  /** Something was counted since the last report. */
  isDirty = false;
  /** The report that is in flight. */
  reporting: Promise<void> | null = null;
  /** Another object has taken its place, or none. */
  isDropped = false;
  reportedMs = Number.NEGATIVE_INFINITY;
  /** The reports of this second, and its beginning. */
  reports = 0;
  secondMs = Number.NEGATIVE_INFINITY;
  timer: NodeJS.Timeout | null = null;
  usedMs: number;
  /** When this process may ask again whether it may probe. */
  claimMs = 0;
  okAtMs: number | null = null;
  #okSentMs = 0;
  #ended = 0;
  #failed = 0;
  #latestFailed: boolean | null = null;
  #faults: PendingFaults | null = null;
  #by: Map<string, number> | null = null;
  #error: SeenError | null = null;
  #cooldownUntilMs: number | null = null;
  #probeFailed = false;
  /** Who was last served here and when, and when anybody else was. */
  #okCaller: string | null = null;
  #othersOkMs: number | null = null;

  constructor(organizationId: string, name: string, of: string, nowMs: number) {
    this.organizationId = organizationId;
    this.name = name;
    this.of = of;
    this.usedMs = nowMs;
  }

  /** Faults wait for a success to end their row, or the breaker is open. */
  get isAlarmed(): boolean {
    return this.#faults !== null || (this.record !== null && (this.record.row ?? this.record.open) !== null);
  }

  /** Something that other gateways should know soon was seen since the last report. */
  get hasNews(): boolean {
    return this.#faults !== null || this.#cooldownUntilMs !== null || this.#probeFailed;
  }

  countOk(): void {
    this.#ended += 1;
    this.#latestFailed = false;
  }

  /** An answer that says nothing about the endpoint. */
  countOther(): void {
    this.#ended += 1;
  }

  countFailed(caller: string, error: SeenError): void {
    this.#ended += 1;
    this.#failed += 1;
    this.#latestFailed = true;
    this.#error = error;
    this.#by ??= new Map();
    if (this.#by.has(caller) || this.#by.size < CALLERS_MAX)
      this.#by.set(caller, (this.#by.get(caller) ?? 0) + 1);
  }

  /** A sign of life of a request that was sent at `sentMs`. */
  noteOk(caller: string, atMs: number, sentMs: number): void {
    if (caller !== this.#okCaller) {
      this.#othersOkMs = this.okAtMs;
      this.#okCaller = caller;
    }
    this.okAtMs = atMs;
    if (sentMs > this.#okSentMs) this.#okSentMs = sentMs;
    this.#faults = null;
  }

  /** Another part has seen a success at this time. */
  noteServed(atMs: number): void {
    if (this.okAtMs === null || atMs > this.okAtMs) this.okAtMs = atMs;
  }

  noteFault({ caller, hard, error, sentMs, probe }: SeenFault): void {
    const othersOkMs = this.othersOkMs(caller);
    const faults = this.#faults;
    this.#error = error;
    this.#probeFailed ||= probe;
    if (faults === null) {
      const { atMs } = error;
      this.#faults = {
        count: 1,
        hard: Number(hard),
        firstMs: atMs,
        lastMs: atMs,
        caller,
        sentMs,
        othersOkMs,
      };
      return;
    }
    faults.count += 1;
    faults.hard += Number(hard);
    faults.lastMs = error.atMs;
    if (faults.caller !== caller) faults.caller = null;
    faults.sentMs = Math.max(faults.sentMs, sentMs);
    if (othersOkMs !== null) faults.othersOkMs = Math.max(faults.othersOkMs ?? 0, othersOkMs);
  }

  noteCooldown(untilMs: number): void {
    this.#cooldownUntilMs = Math.max(untilMs, this.#cooldownUntilMs ?? 0);
  }

  /** When a request of anybody but this caller last succeeded. */
  othersOkMs(caller: string): number | null {
    return caller === this.#okCaller ? this.#othersOkMs : this.okAtMs;
  }

  /** What was seen since the last call. */
  takeReport(): HealthReport {
    const report: HealthReport = {
      ended: this.#ended,
      failed: this.#failed,
      by: this.#by === null ? null : Object.fromEntries(this.#by),
      latestFailed: this.#latestFailed,
      ok: this.okAtMs === null ? null : { atMs: this.okAtMs, sentMs: this.#okSentMs },
      faults: this.#faults,
      error: this.#error,
      cooldownUntilMs: this.#cooldownUntilMs,
      probeFailed: this.#probeFailed,
    };
    this.#ended = 0;
    this.#failed = 0;
    this.#by = null;
    this.#latestFailed = null;
    this.#faults = null;
    this.#error = null;
    this.#cooldownUntilMs = null;
    this.#probeFailed = false;
    this.isDirty = false;
    return report;
  }
}
