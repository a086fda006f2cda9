import { isObject } from '../../kit/values.ts';
import type { Deployment } from './read-deployments.ts';
import type { Resources } from './resources.ts';
import type { Source } from './source.ts';

const BALANCED = new Set(['simple-shuffle', 'least-busy', 'usage-based-routing', 'usage-based-routing-v2']);

/** A lane for each model name, with its own endpoints before those of its fallbacks. */
export function readRouting(source: Source, resources: Resources, deployments: readonly Deployment[]): void {
  const groups = Map.groupBy(deployments, ({ group }) => group);
  const own = new Map([...groups].map(([group, members]) => [group, ranked(members)]));
  const fallbacks = readFallbacks(source, own);
  readStrategy(
    source,
    [...groups.values()].some((members) => members.length > 1),
  );
  const addLane = (name: string, group: string, hidden: boolean) => {
    const wanted = [group, ...(fallbacks.named.get(group) ?? fallbacks.all)];
    const endpoints = [...new Set(wanted.flatMap((each) => own.get(each) ?? []))];
    resources.lane({ name, ...(hidden ? { hidden } : {}) }, endpoints);
  };
  for (const group of own.keys()) addLane(group, group, false);
  for (const { alias, group, hidden } of readAliases(source, own)) addLane(alias, group, hidden);
}

/** By `order`, then by weight, then in file order. */
function ranked(members: readonly Deployment[]): string[] {
  return members.toSorted((a, b) => a.order - b.order || b.weight - a.weight).map(({ endpoint }) => endpoint);
}

interface Fallbacks {
  readonly named: ReadonlyMap<string, readonly string[]>;
  /** For models without their own fallbacks. */
  readonly all: readonly string[];
}

function readFallbacks(source: Source, own: ReadonlyMap<string, unknown>): Fallbacks {
  const named = new Map<string, string[]>();
  const all: string[] = [];
  const known = (path: string, groups: unknown): string[] => {
    const names = Array.isArray(groups) ? groups : [groups];
    return names.filter((name): name is string => {
      if (typeof name === 'string' && own.has(name)) return true;
      const what = typeof name === 'string' ? `${name} was not imported.` : 'It is not a plain name.';
      source.remark('not_imported', path, `Skipped a fallback: ${what}`);
      return false;
    });
  };
  for (const section of ['litellm_settings', 'router_settings']) {
    const path = `${section}.fallbacks`;
    const list = source.take(path);
    for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
      for (const [group, groups] of Object.entries(isObject(entry) ? entry : {})) {
        const at = `${path}[${index}].${group}`;
        if (group === '*') all.push(...known(at, groups));
        else if (own.has(group)) named.set(group, [...(named.get(group) ?? []), ...known(at, groups)]);
        else source.remark('not_imported', at, `${group} is not an imported model.`);
      }
    }
    const everywhere = `${section}.default_fallbacks`;
    const defaults = source.take(everywhere);
    if (defaults !== undefined) all.push(...known(everywhere, defaults));
  }
  return { named, all };
}

/** Whether the endpoints of a lane share the load. */
function readStrategy(source: Source, hasGroups: boolean): void {
  const path = 'router_settings.routing_strategy';
  const strategy = source.takeText(path) ?? 'simple-shuffle';
  if (!BALANCED.has(strategy)) {
    const reason = `Relay doesn’t support ${strategy}; it uses endpoints by rank.`;
    source.remark('not_imported', path, reason);
    return;
  }
  if (hasGroups && source.look(path) !== undefined)
    source.remark('changed', path, 'Relay uses the first available endpoint in the lane, by rank.');
}

function readAliases(
  source: Source,
  own: ReadonlyMap<string, unknown>,
): { readonly alias: string; readonly group: string; readonly hidden: boolean }[] {
  const path = 'router_settings.model_group_alias';
  const aliases = source.take(path);
  if (!isObject(aliases)) return [];
  return Object.entries(aliases).flatMap(([alias, value]) => {
    const { model, hidden = false } = isObject(value) ? value : { model: value };
    if (typeof model === 'string' && own.has(model) && !own.has(alias))
      return [{ alias, group: model, hidden: hidden === true }];
    const reason = own.has(alias) ? 'A model already has that name.' : 'Its model was not imported.';
    source.remark('not_imported', `${path}.${alias}`, reason);
    return [];
  });
}
