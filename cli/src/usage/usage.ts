import type { components } from '@relay/contract/api-types';
import { Command, Option, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { momentIn } from '../kit/time-range.ts';
import { dollars, numberText, timeText } from '../output/cells.ts';
import { withOutput } from '../output/options.ts';
import { printList } from '../output/print.ts';
import type { Column } from '../output/table.ts';
import { withConnection } from '../session/connection.ts';
import { exportCommand } from './export.ts';
import { replayCommand } from './replay.ts';

type Timeseries = components['schemas']['Timeseries'];

const groups = ['none', 'state', 'lane', 'endpoint', 'provider', 'model', 'api_key', 'user'] as const;
const metrics = ['requests', 'errors', 'input_tokens', 'output_tokens', 'cost_micros'] as const;
const MINUTES_MS_MAX = 2 * 3_600_000;
const HOURS_MS_MAX = 3 * 86_400_000;

interface Row extends Record<(typeof metrics)[number], number | null> {
  readonly group: string;
  readonly key: string | null;
  readonly at?: string;
  /** Exact; `cost_micros` is rounded. */
  readonly cost_usd: string | null;
}

export function usageCommand(surroundings: Surroundings): Command {
  const moment = momentIn(surroundings.nowMs, -1);
  const command = new Command('usage')
    .description('Show usage: requests, tokens and spend by group')
    .addOption(new Option('--group-by <what>', 'group').choices(groups).default('none'))
    .addOption(
      new Option('--since <when>', 'start time: 24h or a date')
        .argParser(moment)
        .default(moment('24h'), '24h'),
    )
    .option('--until <when>', 'end time: 1h or a date (default: now)', moment)
    .addOption(new Option('--bucket <time>', 'interval').choices(['minute', 'hour', 'day']));
  command.addCommand(exportCommand(surroundings)).addCommand(replayCommand(surroundings));
  return withOutput(withConnection(command)).action((options: OptionValues) => usage(surroundings, options));
}

async function usage(surroundings: Surroundings, options: OptionValues): Promise<void> {
  const api = await connect(surroundings, options);
  const rows = await readUsage(api, surroundings, options);
  const byTime: Column<Row>[] =
    options['bucket'] === undefined ? [] : [{ title: 'from', value: ({ at }) => timeText(at) }];
  await printList(surroundings, options, rows, {
    columns: [
      ...byTime,
      {
        title: String(options['groupBy']).replace('none', 'all'),
        value: ({ group }) => group,
        elastic: true,
      },
      { title: 'requests', value: ({ requests }) => numberText(requests), align: 'right' },
      { title: 'errors', value: ({ errors }) => numberText(errors), align: 'right' },
      { title: 'input tokens', value: ({ input_tokens }) => numberText(input_tokens), align: 'right' },
      { title: 'output tokens', value: ({ output_tokens }) => numberText(output_tokens), align: 'right' },
      { title: 'spend', value: ({ cost_micros }) => dollars(cost_micros), align: 'right' },
    ],
    empty: 'No requests in this period.',
  });
}

async function readUsage(api: Api, { nowMs }: Surroundings, options: OptionValues): Promise<Row[]> {
  const { since, until, groupBy, bucket } = options;
  const spanMs = new Date(until ?? nowMs()).getTime() - new Date(since).getTime();
  const query = {
    group_by: groupBy,
    bucket: bucket ?? (spanMs <= MINUTES_MS_MAX ? 'minute' : spanMs <= HOURS_MS_MAX ? 'hour' : 'day'),
    from: since,
    ...(until === undefined ? {} : { to: until }),
  };
  const rows = new Map<string, Row>();
  for (const metric of groupBy === 'state' ? (['requests'] as const) : metrics) {
    const found = await dataOf(
      api.management.GET('/api/relay/stats/timeseries', { params: { query: { ...query, metric } } }),
    );
    collect(rows, found, bucket !== undefined);
  }
  return [...rows.values()]
    .filter(({ requests }) => requests !== 0)
    .toSorted(
      (one, other) =>
        (one.at ?? '').localeCompare(other.at ?? '') || (other.requests ?? 0) - (one.requests ?? 0),
    );
}

/** Merges metrics of the same group and time into one row. */
function collect(rows: Map<string, Row>, { metric, series }: Timeseries, isByTime: boolean): void {
  for (const { kind, key, label, total, total_usd, points } of series) {
    const cells = isByTime
      ? points.map(({ at, value, value_usd }) => ({ at, value, usd: value_usd }))
      : [{ at: undefined, value: total, usd: total_usd }];
    for (const { at, value, usd } of cells) {
      const place = `${kind} ${key} ${at}`;
      const row = rows.get(place) ?? {
        group: label,
        key,
        ...(at === undefined ? {} : { at }),
        requests: null,
        errors: null,
        input_tokens: null,
        output_tokens: null,
        cost_micros: null,
        cost_usd: null,
      };
      rows.set(place, { ...row, [metric]: value, ...(usd !== undefined && { cost_usd: usd }) });
    }
  }
}
