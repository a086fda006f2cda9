import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { withOutput } from '../output/options.ts';
import { plainFields, printList } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { announcedResource } from './announced-resource.ts';
import { runConnectionTest } from './connection-test.ts';
import { flagsOf } from './flags.ts';
import { healthColumns, withHealthWords } from './health-words.ts';
import type { Resource } from './resource.ts';
import { resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

type Provider = components['schemas']['Provider'];

export const providers: Resource<Provider> = announcedResource(announcedResources.providers, {
  columns: [
    { title: 'name', value: ({ name }) => name, elastic: true },
    { title: 'slug', value: ({ slug }) => slug },
    { title: 'base url', value: ({ base_url }) => base_url, elastic: true },
    {
      title: 'credential',
      value: ({ has_credential, auth_mode }) => (auth_mode === 'none' ? 'not needed' : has_credential),
    },
    ...healthColumns<Provider>(),
    { title: 'enabled', value: ({ enabled }) => enabled },
  ],
  references: {
    preset_slug: {
      flag: 'preset',
      describe: 'a preset that fills in what is not given; `relay providers presets` lists them',
      resolve: presetSlugOf,
    },
  },
  fields: (shown, nowMs) => withHealthWords(plainFields(shown), shown as Provider, nowMs),
  extend(command, surroundings) {
    const test = command
      .command('test')
      .description('List the provider’s models with its stored credential, and say where it stops.')
      .argument('<provider>', 'the provider: its name, slug or id');
    withOutput(withConnection(test)).action((name: string, options: OptionValues) =>
      runConnectionTest(surroundings, options, async (api) => {
        const { id, slug } = findOne(await providers.list(api), name, providers.kind);
        const params = { path: { provider_id: id } };
        const result = await dataOf(
          api.management.POST('/api/relay/providers/{provider_id}/test', { params }),
        );
        return { result, tested: { provider: slug, endpoint: null } };
      }),
    );
    addSetCredential(command, surroundings);
    addPresets(command, surroundings);
  },
});

export function providersCommand(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const command = new Command('providers').description(announcedResources.providers.description);
  return resourceCommand(command, surroundings, providers, argv);
}

/** A preset by its slug or name. */
async function presetSlugOf(api: Api, typed: string): Promise<string> {
  const all = await dataOf(api.management.GET('/api/relay/provider-presets'));
  const found = all.find(({ slug, name }) => slug === typed || name.toLowerCase() === typed.toLowerCase());
  if (found !== undefined) return found.slug;
  throw usageError(`No preset is named "${typed}".`, 'run `relay providers presets`');
}

function addPresets(parent: Command, surroundings: Surroundings): void {
  const command = parent.command('presets').description('List the providers that Relay has settings for.');
  withOutput(withConnection(command)).action(async (options: OptionValues) => {
    const api = await connect(surroundings, options);
    await printList(surroundings, options, await dataOf(api.management.GET('/api/relay/provider-presets')), {
      columns: [
        { title: 'slug', value: ({ slug }) => slug },
        { title: 'name', value: ({ name }) => name },
        { title: 'protocol', value: ({ protocol }) => protocol },
        { title: 'base url', value: ({ base_url }) => base_url, elastic: true },
      ],
      empty: 'There are no presets.',
    });
  });
}

const secretFlags = flagsOf({ properties: { secret: { type: 'string', writeOnly: true } } });

function addSetCredential(parent: Command, surroundings: Surroundings): void {
  const command = parent
    .command('set-credential')
    .description('Store what the provider asks for, or replace it. It is sealed and never shown again.')
    .argument('<provider>', 'the provider: its name, slug or id')
    .option('--name <text>', 'what to call the credential', 'primary');
  for (const option of secretFlags.options) command.addOption(option);
  withConnection(command).action(async (name: string, options: OptionValues) => {
    const { secret } = await secretFlags.read(surroundings, options);
    if (typeof secret !== 'string' || secret === '') {
      throw usageError('No secret is given.', 'add --secret-stdin or --secret-env VARIABLE');
    }
    const api = await connect(surroundings, options);
    const provider = findOne(await providers.list(api), name, providers.kind);
    const done = await storeCredential(api, provider.id, String(options['name']), secret);
    surroundings.stderr.write(`The credential ${options['name']} of ${provider.name} is ${done}.\n`);
  });
}

async function storeCredential(api: Api, providerId: string, name: string, secret: string): Promise<string> {
  const all = await dataOf(api.management.GET('/api/relay/credentials'));
  const known = all.find((each) => each.provider_id === providerId && each.name === name);
  if (known === undefined) {
    await api.management.POST('/api/relay/credentials', { body: { provider_id: providerId, name, secret } });
    return 'stored';
  }
  await api.management.PUT('/api/relay/credentials/{credential_id}', {
    params: { path: { credential_id: known.id } },
    body: { secret },
  });
  return 'replaced';
}
