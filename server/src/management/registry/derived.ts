import type { Handlers } from '../../http/call.ts';
import type { Dependent } from '../resources/dependents.ts';
import type { Deployment, ManagementDeps } from '../resources/deps.ts';
import type { Feature, Resource } from '../resources/resource.ts';
import { inFileOrder } from '../resources/section.ts';
import type { Section } from '../resources/stored-section.ts';
import { resources } from './resource-list.ts';

/** The sections that a deployment's file has; it neither reads nor touches the others. */
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

/** What is deleted along with a resource and may be owned by the configuration file, in the order of the file. */
function dependentsOf({ table }: Resource): readonly Dependent[] {
  const found = resources.flatMap(({ section, noun, table: own, parents }) =>
    parents
      .filter((parent) => parent.table === table.name)
      .flatMap(({ column }) => (section === null ? [] : { name: section.name, noun, table: own, column })),
  );
  return inFileOrder(found);
}
