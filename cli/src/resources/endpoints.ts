import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne, findOneOrOnly } from '../api/find-one.ts';
import { usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { withOutput } from '../output/options.ts';
import { plainFields, printObject } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { announcedResource } from './announced-resource.ts';
import { runConnectionTest } from './connection-test.ts';
import { type BodySchema, flagsOf } from './flags.ts';
import { healthColumns, withHealthWords } from './health-words.ts';
import { importEndpointsCommand } from './import-endpoints.ts';
import { providers } from './providers.ts';
import type { Bodies, Body, Resource } from './resource.ts';
import { FILE_OPTION, givenBody, resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

type Endpoint = components['schemas']['Endpoint'];

export const endpoints: Resource<Endpoint> = announcedResource(announcedResources.endpoints, {
  example: 'relay endpoints create --name Small --provider mine --upstream-model gpt-4o-mini',
  namesModels: true,
  columns: [
    { title: 'name', value: ({ name }) => name, elastic: true },
    { title: 'slug', value: ({ slug }) => slug },
    { title: 'upstream model', value: ({ upstream_model }) => upstream_model, elastic: true },
    { title: 'kind', value: ({ route_kind }) => route_kind },
    ...healthColumns<Endpoint>(),
    { title: 'enabled', value: ({ enabled }) => enabled },
  ],
  fields: (shown, nowMs) => withHealthWords(plainFields(shown), shown as Endpoint, nowMs),
  async bodies() {
    const { EndpointCreate, EndpointUpdate, PricingPolicyUpdate } = await import('@relay/contract');
    return { create: EndpointCreate, update: EndpointUpdate, price: PricingPolicyUpdate };
  },
  references: {
    provider_id: {
      flag: 'provider',
      describe: 'provider: name, slug or ID (default: the only provider)',
      resolve: async (api, typed) => findOne(await providers.list(api), typed, providers.kind).id,
      async only(api) {
        const [only, ...others] = await providers.list(api);
        return others.length === 0 ? only?.id : undefined;
      },
    },
  },
  extend(command, surroundings, bodies) {
    const test = command
      .command('test')
      .description('Test the endpoint with one minimal request, which the provider may bill')
      .argument('[endpoint]', 'endpoint: name, slug or ID (default: the only endpoint)');
    withOutput(withConnection(test)).action((name: string | undefined, options: OptionValues) =>
      runConnectionTest(surroundings, options, async (api) => {
        const { id, slug, provider_id } = findOneOrOnly(await endpoints.list(api), name, endpoints.kind);
        const params = { path: { endpoint_id: id } };
        const result = await dataOf(
          api.management.POST('/api/relay/endpoints/{endpoint_id}/test', { params }),
        );
        return {
          result,
          tested: { provider: result.ok ? provider_id : await slugOf(api, provider_id), endpoint: slug },
        };
      }),
    );
    importEndpointsCommand(command, surroundings);
    addSetPrice(command, surroundings, bodies as EndpointBodies | null);
  },
});

export function endpointsCommand(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const command = new Command('endpoints').description(announcedResources.endpoints.description);
  return resourceCommand(command, surroundings, endpoints, argv);
}

/** The id instead, without the right to list providers. */
async function slugOf(api: Api, providerId: string): Promise<string> {
  const all = await providers.list(api).catch(() => []);
  return all.find(({ id }) => id === providerId)?.slug ?? providerId;
}

interface EndpointBodies extends Bodies {
  readonly price: BodySchema;
}

function addSetPrice(parent: Command, surroundings: Surroundings, bodies: EndpointBodies | null): void {
  const priceFlags = flagsOf(bodies?.price ?? { properties: {} });
  const command = parent
    .command('set-price')
    .description(
      'Set the endpoint’s prices in dollars per 1M tokens; --source catalog restores Relay’s price list',
    )
    .argument('<endpoint>', 'endpoint: name, slug or ID');
  for (const option of priceFlags.options) command.addOption(option);
  command.option(...FILE_OPTION);
  withOutput(withConnection(command)).action(async (name: string, options: OptionValues) => {
    const prices = await givenBody(surroundings, priceFlags, options);
    if (Object.keys(prices).length === 0) {
      throw usageError('No price provided.', 'Add --input-price and --output-price, or --file.');
    }
    const api = await connect(surroundings, options);
    const endpoint = findOne(await endpoints.list(api), name, endpoints.kind);
    const policy = await storePrice(api, endpoint.id, prices);
    surroundings.stderr.write(`Set prices of endpoint ${endpoint.name}.\n`);
    await printObject(surroundings, options, policy);
  });
}

async function storePrice(api: Api, endpointId: string, prices: Body) {
  const all = await dataOf(api.management.GET('/api/relay/pricing-policies'));
  const known = all.find((each) => each.endpoint_id === endpointId);
  if (known === undefined) {
    const body = {
      endpoint_id: endpointId,
      input_cost_micros_per_1m_tokens: 0,
      output_cost_micros_per_1m_tokens: 0,
      ...prices,
    };
    return dataOf(api.management.POST('/api/relay/pricing-policies', { body }));
  }
  return dataOf(
    api.management.PUT('/api/relay/pricing-policies/{pricing_policy_id}', {
      params: { path: { pricing_policy_id: known.id } },
      body: prices,
    }),
  );
}
