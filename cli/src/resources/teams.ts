import type { components } from '@relay/contract/api-types';
import { Command } from 'commander';
import { dataOf } from '../api/client.ts';
import { teamId } from '../api/find-team.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { announcedResource } from './announced-resource.ts';
import type { Resource } from './resource.ts';
import { resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

/** With the name of the parent, which is what people know it by. */
type Team = components['schemas']['Team'] & { readonly parent?: string | null };

const teams: Resource<Team> = announcedResource(announcedResources.teams, {
  columns: [
    { title: 'name', value: ({ name }) => name, elastic: true },
    { title: 'slug', value: ({ slug }) => slug },
    { title: 'kind', value: ({ kind }) => kind },
    { title: 'parent', value: ({ parent }) => parent },
  ],
  references: {
    parent_id: {
      flag: 'parent',
      describe: 'parent team: name, slug or ID',
      resolve: teamId,
    },
  },
  async list(api) {
    const all = await dataOf(api.management.GET('/api/relay/teams'));
    const names = new Map(all.map(({ id, name }) => [id, name]));
    return all.map((team) => ({ ...team, parent: names.get(team.parent_id ?? '') ?? null }));
  },
});

export function teamsCommand(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const command = new Command('teams').description(announcedResources.teams.description);
  return resourceCommand(command, surroundings, teams, argv);
}
