import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollars, milliseconds, timeText } from '../output/cells.ts';
import { kindWords } from '../output/limit-words.ts';
import { withOutput } from '../output/options.ts';
import { printList, printObject } from '../output/print.ts';
import type { Column } from '../output/table.ts';
import { withConnection } from '../session/connection.ts';
import { announcedResource } from './announced-resource.ts';
import type { Resource } from './resource.ts';
import { resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

type Alert = components['schemas']['Alert'];
type Destination = components['schemas']['AlertDestination'];

const COUNT_DEFAULT = 50;
const IDENTIFIED_BY = 'name or ID';
const announced = announcedResources['alert-destinations'];

export function alertsCommand(surroundings: Surroundings): Command {
  const command = new Command('alerts').description('Show alerts on limits and their deliveries');
  const list = command
    .command('list')
    .description('List alerts and their deliveries, newest first')
    .option('--limit <number>', `number of alerts (default: ${COUNT_DEFAULT}; at most 1,000)`);
  withOutput(withConnection(list)).action(async (options: OptionValues) => {
    const api = await connect(surroundings, options);
    const { data } = await readAlerts(api, Number(options['limit'] ?? COUNT_DEFAULT));
    await printList(surroundings, options, data, {
      columns: alertColumns,
      empty: 'No alerts yet. To set thresholds, run: relay limits update LIMIT --alert-at 50,80',
    });
  });
  return command;
}

function readAlerts(api: Api, limit: number) {
  return dataOf(api.management.GET('/api/relay/alerts', { params: { query: { limit } } }));
}

const alertColumns: readonly Column<Alert>[] = [
  { title: 'created', value: ({ created_at }) => timeText(created_at) },
  {
    title: 'alert',
    value: ({ threshold_percent, forecast_exhausted_at }) =>
      threshold_percent === null ? `forecast ${timeText(forecast_exhausted_at)}` : `${threshold_percent}%`,
  },
  { title: 'limit', value: ({ policy }) => policy.id },
  { title: 'kind', value: ({ policy }) => kindWords[policy.policy_kind] },
  { title: 'period', value: ({ policy }) => policy.period },
  { title: 'used', value: ({ policy, used }) => amount(policy.metric, used), align: 'right' },
  { title: 'of', value: ({ policy, limit }) => amount(policy.metric, limit), align: 'right' },
  {
    title: 'deliveries',
    value: ({ deliveries }) =>
      deliveries.map(({ destination_name, state }) => `${destination_name}: ${state}`).join(', ') || null,
    tone: ({ deliveries }) => (deliveries.some(({ state }) => state === 'dead') ? 'bad' : null),
  },
];

function amount(metric: string, value: number): string {
  return metric === 'spend' ? dollars(value) : String(value);
}

const destinations: Resource<Destination> = announcedResource(announced, {
  columns: [
    { title: 'name', value: ({ name }) => name, elastic: true },
    { title: 'kind', value: ({ kind }) => kind },
    { title: 'to', value: ({ url, address }) => url ?? address, elastic: true },
    { title: 'enabled', value: ({ enabled }) => enabled },
  ],
  identifiedBy: IDENTIFIED_BY,
  extend(command, surroundings) {
    const test = command
      .command('test')
      .description('Send a test alert')
      .argument('<alert-destination>', `alert destination: ${IDENTIFIED_BY}`);
    withOutput(withConnection(test)).action(async (name: string, options: OptionValues) => {
      const api = await connect(surroundings, options);
      const { id } = findOne(await destinations.list(api), name, destinations.kind);
      const result = await dataOf(
        api.management.POST('/api/relay/alert-destinations/{destination_id}/test', {
          params: { path: { destination_id: id } },
        }),
      );
      await printObject(surroundings, options, result, ({ ok, status, message, latency_ms }) => [
        ['ok', ok],
        ['status', status],
        ['time', milliseconds(latency_ms)],
        ['message', message],
      ]);
      if (!result.ok) throw new ProgramError(result.message, exitCodes.error);
    });
  },
});

export function alertDestinationsCommand(
  surroundings: Surroundings,
  argv?: readonly string[],
): Promise<Command> {
  const command = new Command('alert-destinations').description(announced.description);
  return resourceCommand(command, surroundings, destinations, argv);
}
