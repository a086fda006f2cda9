import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { dataOf } from '../api/client.ts';
import { explainLane } from '../explain/explain.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { milliseconds } from '../output/cells.ts';
import { withOutput } from '../output/options.ts';
import { plainFields } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { announcedResource } from './announced-resource.ts';
import { endpoints } from './endpoints.ts';
import { laneMembersCommand } from './lane-members.ts';
import type { Resource } from './resource.ts';
import { resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

type Lane = components['schemas']['Lane'];

export const lanes: Resource<Lane> = announcedResource(announcedResources.lanes, {
  example: 'relay lanes create --name fast',
  namesModels: true,
  columns: [
    { title: 'name', value: ({ name }) => name, elastic: true },
    { title: 'slug', value: ({ slug }) => slug },
    {
      title: 'wait budget',
      value: ({ default_max_wait_ms }) => milliseconds(default_max_wait_ms),
      align: 'right',
    },
    { title: 'fallback', value: ({ allow_fallback }) => allow_fallback },
    { title: 'selection', value: ({ selection }) => selection },
    { title: 'priority', value: ({ priority }) => priority },
    { title: 'enabled', value: ({ enabled }) => enabled },
  ],
  async get(api, lane) {
    const path = { group_id: lane.id };
    const found = await dataOf(
      api.management.GET('/api/relay/routing-lanes/{group_id}', { params: { path } }),
    );
    const names = new Map((await endpoints.list(api)).map(({ id, name }) => [id, name]));
    const members = found.members.map((member) => ({
      ...member,
      endpoint: names.get(member.endpoint_id) ?? null,
    }));
    return { ...found, members };
  },
  fields(shown) {
    const { members, ...lane } = shown as Lane & {
      members: { manual_rank: number; endpoint: string | null }[];
    };
    const inOrder = members.map(({ manual_rank, endpoint }) => `${manual_rank} ${endpoint}`).join(', ');
    return [...plainFields(lane), ['members', inOrder || 'none']];
  },
  extend(command, surroundings) {
    const test = command
      .command('test')
      .description('Explain how a small chat request would be routed now, without calling a provider')
      .argument('[lane]', 'lane: name or slug (default: the only lane)');
    withOutput(withConnection(test)).action((name: string | undefined, options: OptionValues) =>
      explainLane(surroundings, name, options),
    );
    command.addCommand(laneMembersCommand(surroundings));
  },
});

export function lanesCommand(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const command = new Command('lanes').description(announcedResources.lanes.description);
  return resourceCommand(command, surroundings, lanes, argv);
}
