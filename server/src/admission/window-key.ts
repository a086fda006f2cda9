import type { AppliedLimit } from '../domain/limits/limit.ts';

/** A limit whose metric or period changes starts with a new window; one whose value changes keeps its window. */
export function windowKey({ id, metric, period }: AppliedLimit): string {
  return `${id}:${metric}:${period}`;
}
