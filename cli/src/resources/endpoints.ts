import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { withOutput } from '../output/options.ts';
import { plainFields, printObject } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { announcedResource } from './announced-resource.ts';
import { runConnectionTest } from './connection-test.ts';
import { type BodySchema, flagsOf } from './flags.ts';
import { healthColumns, withHealthWords } from './health-words.ts';
import { providers } from './providers.ts';
import type { Bodies, Body, Resource } from './resource.ts';
import { FILE_OPTION, givenBody, resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

type Endpoint = components['schemas']['Endpoint'];

export const endpoints: Resource<Endpoint> = announcedResource(announcedResources.endpoints, {
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
      describe: 'the provider that serves it: its name, slug or id',
      resolve: async (api, typed) => findOne(await providers.list(api), typed, providers.kind).id,
    },
  },
  extend(command, surroundings, bodies) {
    const test = command
      .command('test')
      .description('Send the upstream model one minimal request, which the provider may bill.')
      .argument('<endpoint>', 'the endpoint: its name, slug or id');
    withOutput(withConnection(test)).action((name: string, options: OptionValues) =>
      runConnectionTest(surroundings, options, async (api) => {
        const { id, slug, provider_id } = findOne(await endpoints.list(api), name, endpoints.kind);
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
      'Set what the endpoint costs, in micro-USD; --source catalog goes back to the public price list.',
    )
    .argument('<endpoint>', 'the endpoint: its name, slug or id');
  for (const option of priceFlags.options) command.addOption(option);
  command.option(...FILE_OPTION);
  withOutput(withConnection(command)).action(async (name: string, options: OptionValues) => {
    const prices = await givenBody(surroundings, priceFlags, options);
    if (Object.keys(prices).length === 0) {
      throw usageError(
        'No price is given.',
        'add --input-cost-micros-per-1m-tokens and --output-cost-micros-per-1m-tokens, or --file',
      );
    }
    const api = await connect(surroundings, options);
    const endpoint = findOne(await endpoints.list(api), name, endpoints.kind);
    const policy = await storePrice(api, endpoint.id, prices);
    surroundings.stderr.write(`The prices of ${endpoint.name} are set.\n`);
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
