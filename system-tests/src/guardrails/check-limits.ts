import type { LimitUsage } from '@relay/contract';
import type { CellResult } from './run-cell.ts';
import { allUsage, type Site } from './site.ts';

/** What the limits of each cell show when all is over: nothing is held, and what was not dispatched counts nowhere. */
export async function limitFaults(site: Site, results: readonly CellResult[]): Promise<string[]> {
  const usage = await allUsage(site);
  const of = (scopeId: string | undefined, metric: string) =>
    usage.find((each) => each.scope_id === scopeId && each.metric === metric);
  const found = usage
    .filter(({ reserved }) => reserved !== 0)
    .map((each) => `something is still reserved: ${JSON.stringify(each)}`);
  for (const result of results) {
    const { place, cell } = result;
    const laneId = site.laneIds.get(place);
    found.push(
      ...faultsOf(`${cell.name}: concurrency`, of(site.endpointIds.get(place), 'concurrency'), 0),
      ...faultsOf(`${cell.name}: requests`, of(laneId, 'requests'), requestsOf(result)),
      ...faultsOf(`${cell.name}: tokens`, of(laneId, 'tokens'), tokensOf(result)),
    );
  }
  return found;
}

function faultsOf(what: string, usage: LimitUsage | undefined, expected: number | null): string[] {
  if (usage === undefined) return [`${what}: there is no such limit`];
  if (expected === null || usage.used === expected) return [];
  return [`${what}: ${usage.used} used, not ${expected}`];
}

function requestsOf({ cell: { expected } }: CellResult): number | null {
  if (expected.dispatches === 0) return 0;
  return expected.dispatches === 1 && expected.code === null ? 1 : null;
}

/** What the provider says it was, whatever became of its answer. */
function tokensOf({ cell: { expected, streaming }, seen }: CellResult): number | null {
  if (expected.dispatches === 0) return 0;
  const usage = seen.at(-1)?.reportedUsage;
  if (usage === null || usage === undefined || streaming || expected.dispatches > 1) return null;
  return usage.promptTokens + usage.completionTokens;
}
