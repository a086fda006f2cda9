import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import { exhaustedAtMs, reachedThresholds } from '../domain/limits/alerts.ts';
import { type CalendarPeriod, isCalendar } from '../domain/limits/period.ts';
import type { Log } from '../kit/log.ts';
import { type AlertCheck, postponeAlertChecks, takeAlertCheck } from '../store/alerts/alert-checks.ts';
import { type AlertEventRow, addAlertEvents } from '../store/alerts/alert-events.ts';
import { type AlertingLimit, readAlertingPolicies } from '../store/configuration/calendar-policies.ts';
import { sumUsage } from '../store/ledger/windows/usage-sums.ts';
import { databaseTimeMs } from '../store/postgres/database-time.ts';
import type { Database } from '../store/postgres/schema.ts';

const POLICIES_PER_QUERY = 50;
/** Usage that is recorded later than this after its window has ended alerts no one. */
const LATE_MS_MAX = 3 * 86_400_000;
const FAILURE_MS = 30_000;
const NIL = '00000000-0000-0000-0000-000000000000';

export interface EvaluateDeps {
  readonly db: Kysely<Database>;
  readonly log: Log;
  /** The calendar window that contains a time; its end is exclusive. */
  readonly windowAt: (
    period: CalendarPeriod,
    atMs: number,
  ) => { readonly startMs: number; readonly endMs: number };
}

/**
 * Compares the limits of one organization with what the ledger holds, and writes the alerts that are due. One transaction takes the
 * checks and writes the alerts: a kill leaves both or neither. Returns how many alerts are new; null when nothing was due.
 */
export async function evaluateNext(deps: EvaluateDeps): Promise<number | null> {
  let organizationId: string | null = null;
  try {
    return await deps.db.transaction().execute(async (tx) => {
      const check = await takeAlertCheck(tx);
      if (check === null) return null;
      organizationId = check.organizationId;
      return evaluate({ ...deps, db: tx }, check);
    });
  } catch (error) {
    // Nothing was taken: the database does not answer.
    if (organizationId === null) throw error;
    deps.log.warn({ err: error, organization_id: organizationId }, 'could not evaluate alerts; will retry');
    await postponeAlertChecks(deps.db, organizationId, FAILURE_MS);
    return 0;
  }
}

async function evaluate(deps: EvaluateDeps, check: AlertCheck): Promise<number> {
  const { db } = deps;
  const { organizationId, subjectIds } = check;
  const nowMs = await databaseTimeMs(db);
  let written = 0;
  let afterId: string | undefined = NIL;
  while (afterId !== undefined) {
    const found: AlertingLimit[] = await readAlertingPolicies(
      db,
      organizationId,
      subjectIds,
      afterId,
      POLICIES_PER_QUERY,
    );
    const windows = found.flatMap((alerting) => windowsOf(deps, alerting, check, nowMs));
    const sums = await sumUsage(
      db,
      organizationId,
      windows.map(({ alerting: { limit }, startMs, endMs }) => ({
        metric: limit.applied.metric,
        counts: limit.applied.counts,
        startMs,
        endMs,
      })),
    );
    const events = windows.flatMap((window, index) =>
      eventsOf(organizationId, window, sums[index] ?? 0, nowMs),
    );
    written += await addAlertEvents(db, organizationId, events);
    afterId = found.length < POLICIES_PER_QUERY ? undefined : found.at(-1)?.limit.described.id;
  }
  return written;
}

interface Window {
  readonly alerting: AlertingLimit;
  readonly startMs: number;
  readonly endMs: number;
}

/** The windows of a limit that the new usage is in, oldest first. */
function windowsOf(
  { windowAt }: EvaluateDeps,
  alerting: AlertingLimit,
  { timesMs }: AlertCheck,
  nowMs: number,
): Window[] {
  const { period } = alerting.limit.applied;
  if (!isCalendar(period)) return [];
  const byStart = new Map(
    timesMs.map((atMs) => windowAt(period, atMs)).map((window) => [window.startMs, window]),
  );
  return [...byStart.values()]
    .filter(({ endMs }) => nowMs - endMs < LATE_MS_MAX)
    .sort((one, other) => one.startMs - other.startMs)
    .map((window) => ({ alerting, ...window }));
}

function eventsOf(
  organizationId: string,
  { alerting, startMs, endMs }: Window,
  used: number,
  nowMs: number,
): Omit<AlertEventRow, 'created_at'>[] {
  const { limit_value, id, ...described } = alerting.limit.described;
  const seen = { startMs, endMs, used, limit: limit_value };
  const event = (kind: AlertEventRow['kind'], percent: number, exhaustedMs: number | null) => ({
    organization_id: organizationId,
    id: randomUUIDv7(),
    policy_id: id,
    subject_id: alerting.subjectId,
    ...described,
    limit_value,
    used,
    window_start: new Date(startMs),
    window_end: new Date(endMs),
    kind,
    threshold_percent: percent,
    forecast_exhausted_at: exhaustedMs === null ? null : new Date(exhaustedMs),
  });
  const exhaustedMs = alerting.alertOnForecast ? exhaustedAtMs(seen, nowMs) : null;
  return [
    ...(exhaustedMs === null ? [] : [event('forecast', 0, exhaustedMs)]),
    ...reachedThresholds(alerting.alertAt, seen).map((percent) => event('threshold', percent, null)),
  ];
}
