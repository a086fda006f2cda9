import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { dataOf } from '../api/client.ts';
import { explainLane } from '../explain/explain.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { milliseconds } from '../output/cells.ts';
import { withOutput } from '../output/options.ts';
import { plainFields } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { endpoints } from './endpoints.ts';
import { laneMembersCommand } from './lane-members.ts';
import type { Resource } from './resource.ts';
import { resourceCommand } from './resource-command.ts';

type Lane = components['schemas']['Lane'];

export const lanes: Resource<Lane> = {
  kind: { singular: 'lane', plural: 'lanes' },
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
    { title: 'enabled', value: ({ enabled }) => enabled },
  ],
  async bodies() {
    const { LaneCreate, LaneUpdate } = await import('@relay/contract');
    return { create: LaneCreate, update: LaneUpdate };
  },
  list: (api) => dataOf(api.management.GET('/api/relay/routing-lanes')),
  async get(api, lane) {
    const memberships = await dataOf(api.management.GET('/api/relay/lane-memberships'));
    const names = new Map((await endpoints.list(api)).map(({ id, name }) => [id, name]));
    const members = memberships
      .filter(({ lane_id }) => lane_id === lane.id)
      .toSorted((one, other) => one.manual_rank - other.manual_rank)
      .map((member) => ({ ...member, endpoint: names.get(member.endpoint_id) ?? null }));
    return { ...lane, members };
  },
  fields(shown) {
    const { members, ...lane } = shown as Lane & {
      members: { manual_rank: number; endpoint: string | null }[];
    };
    const inOrder = members.map(({ manual_rank, endpoint }) => `${manual_rank} ${endpoint}`).join(', ');
    return [...plainFields(lane), ['members', inOrder || 'none']];
  },
  create: (api, body) => dataOf(api.management.POST('/api/relay/routing-lanes', { body: body as never })),
  update: (api, id, body) =>
    dataOf(
      api.management.PUT('/api/relay/routing-lanes/{group_id}', {
        params: { path: { group_id: id } },
        body: body as never,
      }),
    ),
  async remove(api, id) {
    await api.management.DELETE('/api/relay/routing-lanes/{group_id}', {
      params: { path: { group_id: id } },
    });
  },
  extend(command, surroundings) {
    const test = command
      .command('test')
      .description('Say what would happen to a small chat request now. Nothing is sent to a provider.')
      .argument('<lane>', 'the lane: its name or slug');
    withOutput(withConnection(test)).action((name: string, options: OptionValues) =>
      explainLane(surroundings, name, options),
    );
    command.addCommand(laneMembersCommand(surroundings));
  },
};

export function lanesCommand(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const command = new Command('lanes').description(
    'Lanes: what clients name as the model, with its members in rank order.',
  );
  return resourceCommand(command, surroundings, lanes, argv);
}
