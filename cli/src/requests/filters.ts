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
    .option('--since <when>', 'from so long ago (24h) or a date', moment)
    .option('--until <when>', 'up to so long ago or a date', moment)
    .addOption(new Option('--state <state>', 'how it ended').choices(requestStates))
    .addOption(new Option('--operation <kind>', 'what was asked for').choices(operations))
    .option('--model <name>', 'the model the client asked for')
    .option('--lane <name>', 'through this lane')
    .option('--endpoint <name>', 'served by this endpoint')
    .option('--provider <name>', 'served by this provider')
    .option('--key <id>', 'with this User API key')
    .option('--user <id>', 'of this user')
    .option('--error <code>', 'that ended with this error code');
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
  } as Filters;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
