import type { components } from '@relay/contract/api-types';
import type { Command } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOneOrOnly } from '../api/find-one.ts';
import { fixOf, responseWords } from '../api/test-result.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { ask, canAsk } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollars, plain } from '../output/cells.ts';
import { type OutputOptions, withOutput } from '../output/options.ts';
import { printList } from '../output/print.ts';
import { type ConnectionOptions, withConnection } from '../session/connection.ts';
import { chooserOf } from '../sources/find-sources.ts';
import { addToLane, createEndpoints, withPrices } from '../sources/set-up-sources.ts';
import { providers } from './providers.ts';

type Provider = components['schemas']['Provider'];

interface ImportOptions extends ConnectionOptions, OutputOptions {
  readonly model?: readonly string[];
  readonly all?: true;
  readonly lane?: string;
}

/** `relay endpoints import`: models of a provider's own list become endpoints with prices from Relay's price list. */
export function importEndpointsCommand(parent: Command, surroundings: Surroundings): void {
  const command = parent
    .command('import')
    .description('Create endpoints for models that a provider lists, with prices from Relay’s price list')
    .argument('[provider]', 'provider: name, slug or ID (default: the only provider)')
    .option('--model <ids...>', 'models to import (default: prompts for them)')
    .option('--all', 'all models that have no endpoint yet')
    .option('--lane <lane>', 'lane that gets the endpoints; created if missing');
  withOutput(withConnection(command)).action((name: string | undefined, options: ImportOptions) =>
    runImport(surroundings, name, options),
  );
}

async function runImport(
  surroundings: Surroundings,
  name: string | undefined,
  options: ImportOptions,
): Promise<void> {
  const { model, all, lane } = options;
  if (model === undefined && all !== true && !canAsk(surroundings))
    throw usageError('No model specified.', 'Add --model MODEL, or --all.');
  const api = await connect(surroundings, options);
  const provider = findOneOrOnly(await providers.list(api), name, providers.kind);
  const { models, protocol } = await listedModels(api, provider);
  const wanted = all === true ? models : (model ?? (await chooseModels(surroundings, provider, models)));
  refuseUnlisted(wanted, models, provider);
  const created = await createEndpoints(api.management, provider.id, wanted, protocol);
  const members = created.map(({ id }) => ({ id, isNew: true }));
  if (lane !== undefined && members.length > 0) await addToLane(api.management, members, lane);
  const priced = await withPrices(api.management, created);
  const rows = created.map(({ name: endpoint, slug }, index) => {
    const price = priced[index]?.price ?? null;
    return {
      endpoint,
      slug,
      input_cost_micros_per_1m_tokens: price?.input_cost_micros_per_1m_tokens ?? null,
      output_cost_micros_per_1m_tokens: price?.output_cost_micros_per_1m_tokens ?? null,
    };
  });
  await printList(surroundings, options, rows, {
    columns: [
      { title: 'endpoint', value: ({ endpoint }) => endpoint, elastic: true },
      { title: 'slug', value: ({ slug }) => slug },
      {
        title: 'input / 1M tokens',
        value: (row) => dollars(row.input_cost_micros_per_1m_tokens),
        align: 'right',
      },
      {
        title: 'output / 1M tokens',
        value: (row) => dollars(row.output_cost_micros_per_1m_tokens),
        align: 'right',
      },
    ],
    empty: `All models that ${plain(provider.name)} lists have endpoints.`,
  });
}

/** The provider's models that have no endpoint yet. */
async function listedModels(api: Api, provider: Provider) {
  const params = { path: { provider_id: provider.id } };
  const tested = await dataOf(api.management.POST('/api/relay/providers/{provider_id}/test', { params }));
  if (!tested.ok) {
    const detail = {
      why: responseWords(tested),
      fix: fixOf(tested.outcome, { provider: provider.slug, endpoint: null }),
    };
    throw new ProgramError(plain(tested.message), exitCodes.error, detail);
  }
  const endpoints = await dataOf(api.management.GET('/api/relay/endpoints'));
  const known = new Set(
    endpoints
      .filter(({ provider_id }) => provider_id === provider.id)
      .map(({ upstream_model }) => upstream_model),
  );
  const models = tested.model_ids.filter((id) => !known.has(id));
  return { models, protocol: tested.protocol ?? 'openai' } as const;
}

async function chooseModels(
  surroundings: Surroundings,
  { name, preset_slug }: Provider,
  models: readonly string[],
): Promise<readonly string[]> {
  if (models.length === 0) return [];
  const { stderr } = surroundings;
  const width = String(models.length).length;
  for (const [index, id] of models.entries())
    stderr.write(`  ${String(index + 1).padStart(width)}  ${plain(id)}\n`);
  const suggested = chooserOf(preset_slug ?? '')(models);
  const typed = await ask(
    surroundings,
    `${plain(name)} models to import, by number or name (Enter for ${suggested.join(', ')}): `,
  );
  const words = typed.split(/[\s,]+/).filter((word) => word !== '');
  return words.length === 0 ? suggested : words.map((word) => models[Number(word) - 1] ?? word);
}

function refuseUnlisted(
  wanted: readonly string[],
  models: readonly string[],
  { name, slug }: Provider,
): void {
  const unlisted = wanted.filter((id) => !models.includes(id));
  if (unlisted.length === 0) return;
  const others = unlisted.length === 1 ? 'it already has an endpoint' : 'they already have endpoints';
  throw usageError(
    `${name} doesn't list ${unlisted.join(', ')}, or ${others}.`,
    `To create an endpoint for a model that isn't listed, run: \`relay endpoints create --provider ${slug} --name NAME --upstream-model MODEL --route-kind multi\``,
  );
}
