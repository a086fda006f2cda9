import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { connect, dataOf } from '../api/client.ts';
import { usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { momentIn } from '../kit/time-range.ts';
import { dollars, numberText } from '../output/cells.ts';
import { withOutput } from '../output/options.ts';
import { printList } from '../output/print.ts';
import { tokenFor, withConnection } from '../session/connection.ts';

type ShowbackLine = components['schemas']['ShowbackLine'];

const GROUP = /^(team|key|member|model|label:[a-z0-9_.-]{1,32})$/;

export function showbackCommand(surroundings: Surroundings): Command {
  const moment = momentIn(surroundings.nowMs, -1);
  const command = new Command('showback')
    .description('Show spend by team, label, key, member or model')
    .option('--group-by <what>', 'group: team, key, member, model or label:NAME', 'team')
    .option('--since <when>', 'start time: 7d or a date (default: the first of this month)', moment)
    .option('--until <when>', 'end time: 1h or a date (default: now)', moment)
    .option('--csv', 'print CSV')
    .option('--focus', 'CSV with FOCUS 1.2 columns, one line per day, team, set of labels, key and endpoint');
  return withOutput(withConnection(command)).action((options: OptionValues) =>
    showback(surroundings, options),
  );
}

async function showback(surroundings: Surroundings, options: OptionValues): Promise<void> {
  const { groupBy, since, until, csv, focus } = options;
  if (!GROUP.test(groupBy))
    throw usageError(`"${groupBy}" is not a group.`, 'Use team, key, member, model or label:NAME.');
  const query = {
    group_by: groupBy,
    ...(since !== undefined && { from: since }),
    ...(until !== undefined && { to: until }),
  };
  const api = await connect(surroundings, options);
  if (csv === true || focus === true) {
    // The client takes JSON only.
    const search = new URLSearchParams({ ...query, format: focus === true ? 'focus' : 'summary' });
    const token = tokenFor(api.connection, 'management');
    const text = await api.text(`/api/relay/stats/showback.csv?${search}`, token);
    surroundings.stdout.write(text);
    return;
  }
  const { lines } = await dataOf(api.management.GET('/api/relay/stats/showback', { params: { query } }));
  await printList<ShowbackLine>(surroundings, options, lines, {
    columns: [
      { title: groupBy, value: ({ label }) => label, elastic: true },
      { title: 'requests', value: ({ requests }) => numberText(requests), align: 'right' },
      { title: 'input tokens', value: ({ input_tokens }) => numberText(input_tokens), align: 'right' },
      { title: 'output tokens', value: ({ output_tokens }) => numberText(output_tokens), align: 'right' },
      { title: 'spend', value: ({ cost_micros }) => dollars(cost_micros), align: 'right' },
    ],
    empty: 'No requests in this period.',
  });
}
