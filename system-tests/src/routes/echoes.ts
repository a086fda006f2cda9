import { type RouteId, volatileFields } from '@relay/contract';
import type { Answer } from './answer.ts';

/** A guardrail is disabled when it is created, whatever is sent. */
const set: Partial<Record<RouteId, readonly string[]>> = { createGuardrail: ['enabled'] };

/** Writes whose answer shows another value than the one that was sent, in a field that it has. */
export function echoFaults(answers: readonly Answer[]): string[] {
  return answers.flatMap(({ line, route, status, sent, body }) => {
    if (status >= 300 || route === null || !isObject(sent) || !isObject(body)) return [];
    const shown = [body['user'], body['key'], body['invitation']].find(isObject) ?? body;
    return Object.entries(sent)
      .filter(
        ([field]) => field in shown && !volatileFields.has(field) && set[route]?.includes(field) !== true,
      )
      .filter(([field, value]) => !isObject(value) && value !== shown[field] && !Array.isArray(value))
      .map(
        ([field, value]) => `${line} shows ${field} as ${String(shown[field])}; ${String(value)} was sent`,
      );
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
