import { finish } from '../../kit/slices.ts';
import { callableNames, laneMeaning, type Meaning, type NameSources, partsOf } from './callable-names.ts';

/** A callable name that a write takes over, or that a new name could be mistaken for. */
export interface ChangedName {
  readonly name: string;
  readonly before: Meaning;
  /** `taken`: what the name stands for afterwards. `alike`: what has the new name, which differs at most in case or white space. */
  readonly after: Meaning;
  readonly kind: 'taken' | 'alike';
}

/**
 * The names that requests can call before a write and that stand for something else after it. A name that ends with what it stood for
 * is not among them.
 */
export function takenNames(before: NameSources, after: NameSources): ChangedName[] {
  return takenBetween(finish(callableNames(before)), finish(callableNames(after)), servedIn(before));
}

/** What a write has to say that it changes: the names that it takes, and those that a new name is too much like. */
export function changedNames(before: NameSources, after: NameSources): ChangedName[] {
  const [old, now] = [finish(callableNames(before)), finish(callableNames(after))];
  const isServed = servedIn(before);
  const allowed = new Set(
    [...after.lanes.values()].filter(({ shadowsModel }) => shadowsModel === true).map(laneMeaning),
  );
  const changed = [
    ...takenBetween(old, now, isServed),
    ...alike(before, after, old, now, isServed),
    ...lanesLikeModels(old, now, isServed, servedIn(after)),
  ];
  const isAllowed = (lane: Meaning, other: Meaning) => allowed.has(lane) && !isLane(other);
  return changed.filter(
    (each) =>
      !isAllowed(each.after, each.before) && !(each.kind === 'alike' && isAllowed(each.before, each.after)),
  );
}

type Names = ReadonlyMap<string, Meaning>;
type IsServed = (meaning: Meaning, name: string) => boolean;

function takenBetween(old: Names, now: Names, isServed: IsServed): ChangedName[] {
  const changed: ChangedName[] = [];
  for (const [name, meaning] of old) {
    const after = now.get(name);
    if (after === undefined || after === meaning || !isServed(meaning, name)) continue;
    changed.push({ name, before: meaning, after, kind: 'taken' });
  }
  return changed;
}

function alike(
  before: NameSources,
  after: NameSources,
  old: Names,
  now: Names,
  isServed: IsServed,
): ChangedName[] {
  const introduced = newNames(before.lanes, after.lanes);
  if (introduced.size === 0) return [];
  const changed: ChangedName[] = [];
  for (const [name, meaning] of old) {
    const lane = introduced.get(foldedName(name));
    if (lane === undefined || lane === meaning) continue;
    if (now.get(name) === meaning && isServed(meaning, name))
      changed.push({ name, before: meaning, after: lane, kind: 'alike' });
  }
  return changed;
}

/** Lanes whose names a model that was not served before is too much like. A model with the very name of a lane gets no requests. */
function lanesLikeModels(old: Names, now: Names, wasServed: IsServed, isServed: IsServed): ChangedName[] {
  const kept = [...old].filter(([name, meaning]) => isLane(meaning) && now.get(name) === meaning);
  const lanes = Map.groupBy(kept, ([name]) => foldedName(name));
  const changed: ChangedName[] = [];
  for (const [called, model] of now) {
    if (isLane(model) || !isServed(model, called)) continue;
    const had = old.get(called);
    if (had !== undefined && wasServed(had, called)) continue;
    for (const [name, lane] of lanes.get(foldedName(called)) ?? [])
      changed.push({ name, before: lane, after: model, kind: 'alike' });
  }
  return changed;
}

/** Names and slugs that lanes get or that come back as lanes are enabled, folded, each with its lane. */
function newNames(before: NameSources['lanes'], after: NameSources['lanes']): ReadonlyMap<string, Meaning> {
  const found = new Map<string, Meaning>();
  for (const lane of after.values()) {
    if (!lane.enabled) continue;
    const old = before.get(lane.id);
    const had = old?.enabled === true ? [old.name, old.slug] : [];
    for (const name of [lane.name, lane.slug])
      if (!had.includes(name)) found.set(foldedName(name), laneMeaning(lane));
  }
  return found;
}

/** Names that people take for the same. Providers choose the names of models, so two models may differ in case alone. */
export function foldedName(name: string): string {
  return name.trim().toLowerCase();
}

/** Whether an enabled endpoint serves the model. A lane always answers, if only with an error that names it. */
function servedIn({ endpoints, providers }: NameSources): IsServed {
  const served = new Set<string>();
  for (const { providerId, upstreamModel, enabled } of endpoints.values()) {
    const provider = providers.get(providerId);
    if (!enabled || provider?.enabled !== true) continue;
    served.add(upstreamModel);
    served.add(`${provider.slug}/${upstreamModel}`);
  }
  return (meaning, name) => isLane(meaning) || served.has(name);
}

function isLane(meaning: Meaning): boolean {
  return partsOf(meaning).kind === 'lane';
}
