import type { operations as calls } from '@relay/contract/api-types';
import { operations, requestStates } from '@relay/contract/words';
import { type Command, Option, type OptionValues } from 'commander';
import type { Api } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { momentIn } from '../kit/time-range.ts';
import { endpoints } from '../resources/endpoints.ts';
import { lanes } from '../resources/lanes.ts';
import { providers } from '../resources/providers.ts';

type Filters = NonNullable<calls['streamRequests']['parameters']['query']>;

export function withFilters(command: Command, { nowMs }: Surroundings): Command {
  const moment = momentIn(nowMs, -1);
  return command
    .option('--since <when>', 'start time: 24h or a date', moment)
    .option('--until <when>', 'end time: 1h or a date', moment)
    .addOption(new Option('--state <state>', 'state').choices(requestStates))
    .addOption(new Option('--operation <kind>', 'operation').choices(operations))
    .option('--model <name>', 'model in the request')
    .option('--lane <name>', 'lane')
    .option('--endpoint <name>', 'endpoint')
    .option('--provider <name>', 'provider')
    .option('--key <id>', 'API key, by ID')
    .option('--user <id>', 'member, by ID')
    .option('--error <code>', 'error code')
    .option('--waited', 'only requests that waited for capacity')
    .option('--fell-back', 'only requests that fell back');
}

/** The filters of the query, with names resolved to IDs. */
export async function filtersOf(api: Api, options: OptionValues): Promise<Filters> {
  const { since, until, state, operation, model, lane, endpoint, provider, key, user, error } = options;
  const given: Filters = {
    from: since,
    to: until,
    state,
    operation,
    model,
    lane_id: lane === undefined ? undefined : findOne(await lanes.list(api), lane, lanes.kind).id,
    endpoint_id:
      endpoint === undefined ? undefined : findOne(await endpoints.list(api), endpoint, endpoints.kind).id,
    provider_id:
      provider === undefined ? undefined : findOne(await providers.list(api), provider, providers.kind).id,
    api_key_id: key,
    user_uuid: user,
    error_code: error,
    waited: options['waited'],
    fell_back: options['fellBack'],
  } as Filters;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
