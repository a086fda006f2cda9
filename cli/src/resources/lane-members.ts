import type { components } from '@relay/contract/api-types';
import type { SeenHealth } from '@relay/contract/words';
import { Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { withOutput } from '../output/options.ts';
import { printList } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { endpoints } from './endpoints.ts';
import { healthColumns } from './health-words.ts';

type Membership = components['schemas']['Membership'];
type Lane = components['schemas']['Lane'];

interface Member extends SeenHealth {
  readonly rank: number;
  readonly endpoint: string;
  readonly upstream_model: string;
  readonly enabled: boolean;
  readonly membership_id: string;
  readonly endpoint_id: string;
}

const LANE = 'lane: name, slug or ID';
const ENDPOINTS = 'endpoints: names, slugs or IDs';
const NOTHING_SEEN = { reason: null, since: null, requests: 0, error_share: null };
const laneKind = { singular: 'lane', plural: 'lanes' };

export function laneMembersCommand(surroundings: Surroundings): Command {
  const command = new Command('endpoints').description('Manage the endpoints of a lane');
  const add = (name: string, description: string) =>
    command.command(name).description(description).argument('<lane>', LANE);
  withOutput(withConnection(add('list', 'List the endpoints of a lane by rank'))).action(
    (lane: string, options: OptionValues) => show(surroundings, options, lane),
  );
  withOutput(
    withConnection(
      add('add', 'Add endpoints to a lane, after the others').argument('<endpoints...>', ENDPOINTS),
    ),
  )
    .option(
      '--rank <number>',
      'rank of the first endpoint added; lower numbers are preferred (default: last)',
      Number,
    )
    .action((lane: string, names: string[], options: OptionValues) =>
      show(surroundings, options, lane, (api, found) => addMembers(api, found, names, options['rank'])),
    );
  withOutput(
    withConnection(add('remove', 'Remove endpoints from a lane').argument('<endpoints...>', ENDPOINTS)),
  ).action((lane: string, names: string[], options: OptionValues) =>
    show(surroundings, options, lane, (api, found) => removeMembers(api, found, names)),
  );
  withOutput(
    withConnection(
      add('reorder', 'Move endpoints to the front, in the given order').argument('<endpoints...>', ENDPOINTS),
    ),
  ).action((lane: string, names: string[], options: OptionValues) =>
    show(surroundings, options, lane, (api, found) => reorder(api, found, names)),
  );
  return command;
}

/** Every change ends by showing what the lane has become. */
async function show(
  surroundings: Surroundings,
  options: OptionValues,
  name: string,
  change?: (api: Api, lane: Lane) => Promise<void>,
): Promise<void> {
  const api = await connect(surroundings, options);
  const lane = findOne(await dataOf(api.management.GET('/api/relay/routing-lanes')), name, laneKind);
  await change?.(api, lane);
  const all = await endpoints.list(api);
  const members = (await membershipsOf(api, lane)).map((membership): Member => {
    const endpoint = all.find(({ id }) => id === membership.endpoint_id);
    return {
      rank: membership.manual_rank,
      endpoint: endpoint?.name ?? membership.endpoint_id,
      upstream_model: endpoint?.upstream_model ?? '',
      enabled: membership.enabled && endpoint?.enabled === true,
      health: endpoint?.health ?? 'unknown',
      health_detail: endpoint?.health_detail ?? NOTHING_SEEN,
      membership_id: membership.id,
      endpoint_id: membership.endpoint_id,
    };
  });
  await printList(surroundings, options, members, {
    columns: [
      { title: 'rank', value: ({ rank }) => rank, align: 'right' },
      { title: 'endpoint', value: ({ endpoint }) => endpoint, elastic: true },
      { title: 'upstream model', value: ({ upstream_model }) => upstream_model, elastic: true },
      ...healthColumns<Member>(),
      { title: 'enabled', value: ({ enabled }) => enabled },
    ],
    empty: `Lane ${lane.name} has no endpoints. Run: relay lanes endpoints add ${lane.slug} ENDPOINT`,
  });
}

async function membershipsOf(api: Api, lane: Lane): Promise<Membership[]> {
  const all = await dataOf(api.management.GET('/api/relay/lane-memberships'));
  return all
    .filter(({ lane_id }) => lane_id === lane.id)
    .toSorted((one, other) => one.manual_rank - other.manual_rank);
}

async function addMembers(api: Api, lane: Lane, names: readonly string[], rank: unknown): Promise<void> {
  if (rank !== undefined && !Number.isSafeInteger(rank)) throw usageError('--rank must be a whole number.');
  const all = await endpoints.list(api);
  const wanted = names.map((name) => findOne(all, name, endpoints.kind));
  const last = (await membershipsOf(api, lane)).at(-1)?.manual_rank ?? 0;
  const first = typeof rank === 'number' ? rank : last + 1;
  for (const [index, endpoint] of wanted.entries()) {
    await api.management.POST('/api/relay/lane-memberships', {
      body: { lane_id: lane.id, endpoint_id: endpoint.id, manual_rank: first + index },
    });
  }
}

async function removeMembers(api: Api, lane: Lane, names: readonly string[]): Promise<void> {
  for (const { id } of await memberNamed(api, lane, names)) {
    await api.management.DELETE('/api/relay/lane-memberships/{membership_id}', {
      params: { path: { membership_id: id } },
    });
  }
}

async function reorder(api: Api, lane: Lane, names: readonly string[]): Promise<void> {
  const first = await memberNamed(api, lane, names);
  const rest = (await membershipsOf(api, lane)).filter((each) => !first.some(({ id }) => id === each.id));
  for (const [index, { id, manual_rank, enabled }] of [...first, ...rest].entries()) {
    if (manual_rank === index + 1) continue;
    await api.management.PUT('/api/relay/lane-memberships/{membership_id}', {
      params: { path: { membership_id: id } },
      body: { manual_rank: index + 1, enabled },
    });
  }
}

/** The memberships of the named endpoints, in the order of the names. */
async function memberNamed(api: Api, lane: Lane, names: readonly string[]): Promise<Membership[]> {
  const all = await endpoints.list(api);
  const memberships = await membershipsOf(api, lane);
  return names.map((name) => {
    const endpoint = findOne(all, name, endpoints.kind);
    const found = memberships.find(({ endpoint_id }) => endpoint_id === endpoint.id);
    if (found !== undefined) return found;
    throw new ProgramError(`Endpoint ${endpoint.name} is not in lane ${lane.name}.`, exitCodes.notFound, {
      fix: `Run: \`relay lanes endpoints list ${lane.slug}\``,
    });
  });
}
