import type { Handlers } from '../../http/call.ts';
import type { Dependent } from '../resources/dependents.ts';
import type { Deployment, ManagementDeps } from '../resources/deps.ts';
import type { Feature, Resource } from '../resources/resource.ts';
import { inFileOrder } from '../resources/section.ts';
import type { Section } from '../resources/stored-section.ts';
import { resources } from './resource-list.ts';

/** The sections that a configuration file may have in this mode. An export or apply touches no others. */
export function sectionsOf({ mode }: Pick<Deployment, 'mode'>): readonly Section[] {
  return sectionsIn(mode === 'hosted' ? resources.filter((each) => !each.isSelfHostedOnly) : resources);
}

export const resourceFeatures: readonly Feature[] = resources.flatMap(({ feature }) => feature ?? []);

/** The handlers of all resources. */
export function resourceHandlers(deps: ManagementDeps): Handlers {
  return Object.assign({}, ...resources.map((each) => each.handlers(deps, dependentsOf(each.table.name))));
}

function sectionsIn(some: readonly Resource[]): readonly Section[] {
  return inFileOrder(some.flatMap(({ section }) => section ?? []));
}

/** Rows that are deleted along with a row of this table; those that the configuration file may own first, in file order. */
export function dependentsOf(tableName: string): readonly Dependent[] {
  const found = resources.flatMap(({ section, noun, table, parents }) => {
    const [parent] = parents.filter((each) => each.table === tableName);
    if (parent === undefined) return [];
    const isOwnable = section !== null;
    return { section, noun, table, column: parent.column, isOwnable, dependents: dependentsOf(table.name) };
  });
  const ownable = found.flatMap(({ section, ...each }) =>
    section === null ? [] : { ...each, name: section.name },
  );
  return [...inFileOrder(ownable), ...found.filter(({ isOwnable }) => !isOwnable)];
}
