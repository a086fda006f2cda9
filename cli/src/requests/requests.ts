import { countWords } from '@relay/contract/words';
import { Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { formatOf, withOutput } from '../output/options.ts';
import { printList, printObject } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { type Entry, entryColumns } from './entry-columns.ts';
import { filtersOf, withFilters } from './filters.ts';
import { printRequest } from './print-request.ts';
import { tail } from './tail.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100_000;
const PAGE_MAX = 1_000;

export function requestsCommand(surroundings: Surroundings): Command {
  const command = new Command('requests').description(
    'Show the request log: routing, usage and cost, never prompts or responses',
  );
  const list = withFilters(command.command('list').description('List requests, newest first'), surroundings);
  withOutput(withConnection(list))
    .option('--limit <number>', 'number of requests to list', limitOf, LIMIT_DEFAULT)
    .action(async (options: OptionValues) => {
      const api = await connect(surroundings, options);
      const { entries, isCut } = await readEntries(api, options);
      await printList(surroundings, options, entries, {
        columns: entryColumns,
        empty: 'No requests match.',
      });
      if (isCut && surroundings.stderr.isTTY) {
        surroundings.stderr.write(
          `More requests match. To see more, add --limit ${Number(options['limit']) * 2}.\n`,
        );
      }
    });
  const get = command
    .command('get')
    .description('Show a request with its routing trace and timings')
    .argument('<request-id>', 'request ID: the x-request-id header of the response');
  withOutput(withConnection(get)).action(async (requestId: string, options: OptionValues) => {
    const api = await connect(surroundings, options);
    const detail = await dataOf(
      api.management.GET('/api/relay/requests/{request_id}', { params: { path: { request_id: requestId } } }),
    );
    if (formatOf(surroundings, options) === 'table') printRequest(surroundings, detail);
    else await printObject(surroundings, options, detail);
  });
  const follow = withFilters(
    command.command('tail').description('Show requests live as they finish'),
    surroundings,
  );
  withOutput(withConnection(follow))
    .option('--count <number>', 'stop after this many', limitOf)
    .action((options: OptionValues) => tail(surroundings, options));
  return command;
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw usageError(`"${text}" is not a number from 1 to ${countWords(LIMIT_MAX)}.`);
}

async function readEntries(api: Api, options: OptionValues): Promise<{ entries: Entry[]; isCut: boolean }> {
  const filters = await filtersOf(api, options);
  const limit = Number(options['limit']);
  const entries: Entry[] = [];
  let cursor: string | undefined;
  do {
    const page = await dataOf(
      api.management.GET('/api/relay/requests', {
        params: {
          query: {
            ...filters,
            limit: Math.min(limit - entries.length, PAGE_MAX),
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    );
    entries.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && entries.length < limit);
  return { entries, isCut: cursor !== undefined };
}
