import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { connect, dataOf } from '../api/client.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollars } from '../output/cells.ts';
import { withOutput } from '../output/options.ts';
import { printList } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { type ImportFlags, importPrices } from './import-prices.ts';

type Policy = components['schemas']['PricingPolicy'];

export function pricesCommand(surroundings: Surroundings): Command {
  const command = new Command('prices').description('Manage endpoint prices');
  const list = command.command('list').description('List prices per 1M tokens, with source and date');
  withOutput(withConnection(list)).action((options: OptionValues) => listPrices(surroundings, options));
  const from = command
    .command('import')
    .description(
      'Compare prices with LiteLLM’s or models.dev’s price list and set those you approve. Changes over 10× or to zero are held back',
    )
    .argument(
      '[file]',
      'LiteLLM’s model_prices_and_context_window.json or models.dev’s api.json, - for standard input',
    )
    .option('--catalog', 'use Relay’s own price list instead of a file')
    .option('--accept <model>', 'model whose held-back price you accept; repeatable', collected)
    .option('--as-of <date>', 'date of the list (default: the file’s modification date)')
    .option('--dry-run', 'show the plan only; exits 5 when prices differ')
    .option('-y, --yes', 'skip the confirmation');
  withOutput(withConnection(from)).action((file: string | undefined, flags: ImportFlags) =>
    importPrices(surroundings, file, flags),
  );
  return command;
}

async function listPrices(surroundings: Surroundings, options: OptionValues): Promise<void> {
  const api = await connect(surroundings, options);
  const endpoints = await dataOf(api.management.GET('/api/relay/endpoints'));
  const policies = await dataOf(api.management.GET('/api/relay/pricing-policies'));
  const nameOf = new Map(endpoints.map(({ id, name }) => [id, name]));
  await printList<Policy>(surroundings, options, policies, {
    columns: [
      {
        title: 'endpoint',
        value: ({ endpoint_id }) => nameOf.get(endpoint_id) ?? endpoint_id,
        elastic: true,
      },
      { title: 'input', value: (price) => dollars(price.input_cost_micros_per_1m_tokens), align: 'right' },
      {
        title: 'cached',
        value: (price) => dollars(price.cached_input_cost_micros_per_1m_tokens),
        align: 'right',
      },
      { title: 'output', value: (price) => dollars(price.output_cost_micros_per_1m_tokens), align: 'right' },
      { title: 'variants', value: ({ variants }) => variants.length, align: 'right' },
      { title: 'source', value: ({ source }) => source },
      { title: 'as of', value: ({ as_of }) => as_of.slice(0, 10) },
    ],
    empty: 'No prices yet. Run: relay prices import --catalog',
  });
}

function collected(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}
