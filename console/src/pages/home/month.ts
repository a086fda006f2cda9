/** Spend of the present month, at the rate since it began. */
export interface MonthForecast {
  readonly spentMicros: number;
  readonly forecastMicros: number;
  /** When the budget is used up; null without a budget, or if it lasts. */
  readonly overAtMs: number | null;
  /** The part of the month that is over, from 0 to 1. */
  readonly elapsed: number;
}

export function monthOf(nowMs: number): { readonly startMs: number; readonly endMs: number } {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
}

export function forecastOf(spentMicros: number, budgetMicros: number | null, nowMs: number): MonthForecast {
  const { startMs, endMs } = monthOf(nowMs);
  const elapsed = (nowMs - startMs) / (endMs - startMs);
  const forecastMicros = elapsed <= 0 ? spentMicros : spentMicros / elapsed;
  const isOver = budgetMicros !== null && forecastMicros > budgetMicros && spentMicros > 0;
  return {
    spentMicros,
    forecastMicros,
    overAtMs: isOver ? Math.max(nowMs, startMs + (budgetMicros / forecastMicros) * (endMs - startMs)) : null,
    elapsed,
  };
}
