import { WHAT_IF_LISTED_MAX, type WhatIf, type WhatIfFigures } from '@relay/contract';
import { counted, countWords } from '@relay/contract/words';
import { Command, InvalidArgumentError, Option } from 'commander';
import { connect, dataOf } from '../api/client.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { type Cell, dollars, milliseconds, plain, timeText } from '../output/cells.ts';
import { boundPolicyWords } from '../output/limit-words.ts';
import { formatOf, type OutputOptions, withOutput } from '../output/options.ts';
import { printObject, tableStyle } from '../output/print.ts';
import { renderTable } from '../output/table.ts';
import { type ConnectionOptions, withConnection } from '../session/connection.ts';
import { atPlace, readGoodConfig } from './read-config.ts';

const DAYS_MAX = 7;

interface WhatIfOptions extends ConnectionOptions, OutputOptions {
  readonly file: string;
  readonly days?: number;
  readonly prune?: true;
}

export function whatIfCommand(surroundings: Surroundings): Command {
  const command = new Command('what-if')
    .description('Replay recent requests with an edited configuration file; changes nothing on the server')
    .option('-f, --file <path>', 'configuration file, - for standard input', 'relay.yaml')
    .addOption(new Option('--days <days>', 'number of days to replay, 1 to 7 (default: 7)').argParser(daysOf))
    .option('--prune', 'replay without resources that the file manages and no longer lists');
  return withOutput(withConnection(command))
    .addOption(new Option('--json', 'same as --output json').implies({ output: 'json' }))
    .action((options: WhatIfOptions) => whatIf(surroundings, options));
}

function daysOf(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= DAYS_MAX) return days;
  throw new InvalidArgumentError(`Use a whole number from 1 to ${DAYS_MAX}.`);
}

async function whatIf(surroundings: Surroundings, options: WhatIfOptions): Promise<void> {
  const { file, days, prune } = options;
  const { read, config } = await readGoodConfig(surroundings, file);
  const api = await connect(surroundings, options);
  const body = { config, ...(days !== undefined && { days }), ...(prune === true && { prune }) };
  const replayed = await atPlace(read, dataOf(api.management.POST('/api/relay/what-if', { body })));
  if (formatOf(surroundings, options) !== 'table') return printObject(surroundings, options, replayed);
  surroundings.stdout.write(whatIfText(surroundings, replayed));
}

const ROWS: readonly (readonly [name: string, value: (figures: WhatIfFigures) => Cell])[] = [
  ['served', ({ served }) => countWords(served)],
  ['rejected', ({ rejected }) => countWords(rejected)],
  ['waited', ({ waited }) => countWords(waited)],
  ['wait p50', ({ wait_ms_p50 }) => milliseconds(wait_ms_p50)],
  ['wait p95', ({ wait_ms_p95 }) => milliseconds(wait_ms_p95)],
  ['fallbacks', ({ fallbacks }) => countWords(fallbacks)],
  ['spend', ({ cost_micros }) => dollars(cost_micros)],
];
const UNPRICED = [
  'without a price',
  ({ unpriced_requests: unpriced }: WhatIfFigures) => countWords(unpriced),
] as const;

function whatIfText(surroundings: Surroundings, replayed: WhatIf): string {
  const { summary, requests, from, to, history, before, after, rejecting, keys, limits } = replayed;
  const hasUnpriced = [history, before, after].some(({ unpriced_requests: unpriced }) => unpriced > 0);
  const table = renderTable(
    hasUnpriced ? [...ROWS, UNPRICED] : ROWS,
    [
      { title: '', value: ([name]) => name },
      { title: 'recorded', value: ([, value]) => value(history), align: 'right' },
      { title: 'without the file', value: ([, value]) => value(before), align: 'right' },
      { title: 'with the file', value: ([, value]) => value(after), align: 'right' },
    ],
    tableStyle(surroundings),
  );
  const touched = `The file affects ${listed(keys, 'caller')} and ${listed(limits, 'limit')}.`;
  const range = `Replayed ${counted(requests, 'request')}, ${timeText(from)} to ${timeText(to)}.`;
  return [
    plain(summary),
    '',
    `${table}`,
    `${range}${cutWords(replayed)} ${touched}`,
    ...(history.rejected === before.rejected ? [] : [WHY_OTHER]),
    ...(rejecting.length === 0 ? [] : [rejectingWords(rejecting)]),
    '',
  ].join('\n');
}

const WHY_OTHER =
  'A replay knows arrivals, durations and today’s settings only, so it can reject more or fewer than Relay did at the time.';
const REJECTING_SHOWN = 3;

/** "Rejecting with the file: shared limit of 1 concurrent request on lane Checkout helper (57 requests)." */
export function rejectingWords(rejecting: WhatIf['rejecting']): string {
  const shown = rejecting.slice(0, REJECTING_SHOWN).map(({ requests, limit, ...each }) => {
    const words = boundPolicyWords({ ...each, subject_name: null, limit_value: limit });
    return `${words} (${counted(requests, 'request')})`;
  });
  const more = rejecting.length - shown.length;
  return `Rejecting with the file: ${plain(shown.join(', '))}${more > 0 ? `, and ${more} more` : ''}.`;
}

function listed(list: readonly unknown[], noun: string): string {
  return `${list.length < WHAT_IF_LISTED_MAX ? '' : 'at least '}${counted(list.length, noun)}`;
}

function cutWords({ cut }: WhatIf): string {
  if (cut === 'requests') return ' Earlier requests are omitted: there are too many.';
  return cut === 'time' ? ' Later requests are omitted: the replay reached its time limit.' : '';
}
