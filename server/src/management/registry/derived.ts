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
  return Object.assign({}, ...resources.map((each) => each.handlers(deps, dependentsOf(each))));
}

function sectionsIn(some: readonly Resource[]): readonly Section[] {
  return inFileOrder(some.flatMap(({ section }) => section ?? []));
}

/** Resources that are deleted along with this one and that the configuration file may own, in file order. */
function dependentsOf({ table }: Resource): readonly Dependent[] {
  const found = resources.flatMap(({ section, noun, table: own, parents }) =>
    parents
      .filter((parent) => parent.table === table.name)
      .flatMap(({ column }) => (section === null ? [] : { name: section.name, noun, table: own, column })),
  );
  return inFileOrder(found);
}
