/** What a log entry says about waiting. */
interface Waited {
  readonly wait_ms: number;
  readonly wait_budget_ms: number | null;
}

/** A timer that fires late and the call that follows it. */
const LATE_MS = 100;

/** Whether the request waited longer than its lane's wait budget, by more than what ends a wait takes. */
export function isPastWaitBudget({ wait_ms: waitMs, wait_budget_ms: budgetMs }: Waited): boolean {
  return budgetMs !== null && waitMs > budgetMs + LATE_MS;
}
