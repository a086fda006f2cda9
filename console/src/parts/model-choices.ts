import type { Endpoint, Lane, Membership, ModelObject, Operation } from '@relay/contract';
import { servedOperations } from '@relay/contract/words';

/** Names that a request can be sent to. */
export interface ModelChoices {
  readonly lanes: readonly string[];
  readonly models: readonly string[];
}

export type ChoicesFor = (operation: Operation) => ModelChoices;

export interface Routing {
  readonly endpoints: readonly Endpoint[];
  readonly lanes: readonly Lane[];
  readonly memberships: readonly Membership[];
}

/** What each operation can be sent to. Where the routing is unknown, the list of models is all there is. */
export function choicesOf(listed: readonly ModelObject[], routing: Routing | undefined): ChoicesFor {
  const served = routing === undefined ? new Map<string, Served>() : operationsByName(routing);
  return (operation) => {
    const able = listed.filter(({ id }) => served.get(id)?.has(operation) ?? true);
    return {
      lanes: able.filter(({ owned_by: owner }) => owner === 'relay').map(({ id }) => id),
      models: able.filter(({ owned_by: owner }) => owner !== 'relay').map(({ id }) => id),
    };
  };
}

export const namesIn = ({ lanes, models }: ModelChoices): readonly string[] => [...lanes, ...models];

type Served = ReadonlySet<Operation>;

function operationsByName({ endpoints, lanes, memberships }: Routing): ReadonlyMap<string, Served> {
  const of = (some: readonly Endpoint[]): Served =>
    new Set(some.filter(({ enabled }) => enabled).flatMap(servedOperations));
  const models = Map.groupBy(endpoints, ({ upstream_model: model }) => model);
  const byId = new Map(endpoints.map((each) => [each.id, each]));
  const members = Map.groupBy(
    memberships.filter(({ enabled }) => enabled),
    ({ lane_id: id }) => id,
  );
  // A lane named like a model is what a request with that name reaches, so it comes last.
  return new Map([
    ...[...models].map(([name, some]): [string, Served] => [name, of(some)]),
    ...lanes
      .filter(({ enabled }) => enabled)
      .map(({ id, slug }): [string, Served] => [
        slug,
        of((members.get(id) ?? []).flatMap(({ endpoint_id: member }) => byId.get(member) ?? [])),
      ]),
  ]);
}
