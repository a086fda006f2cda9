import type { ReportedUsage } from '../model-events.ts';

/** The members that are counts; null when none is: missing usage is not zero usage. */
export function tokenCounts(
  given: Readonly<Partial<Record<keyof ReportedUsage, unknown>>>,
): Partial<ReportedUsage> | null {
  const counts = Object.entries(given).filter(
    ([, value]) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  );
  return counts.length === 0 ? null : Object.fromEntries(counts);
}
