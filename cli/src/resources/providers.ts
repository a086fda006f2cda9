import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOneOrOnly } from '../api/find-one.ts';
import { usageError } from '../kit/program-error.ts';
import { askHidden, canAsk } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { plain } from '../output/cells.ts';
import { withOutput } from '../output/options.ts';
import { plainFields, printList } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { addProviderCommand, presetOf } from './add-provider.ts';
import { announcedResource } from './announced-resource.ts';
import { runConnectionTest } from './connection-test.ts';
import { flagsOf } from './flags.ts';
import { healthColumns, withHealthWords } from './health-words.ts';
import type { Resource } from './resource.ts';
import { resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

type Provider = components['schemas']['Provider'];

export const providers: Resource<Provider> = announcedResource(announcedResources.providers, {
  example: 'relay providers create --name Mine --base-url https://llm.example.com/v1 --auth-mode none',
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
      describe:
        'preset, which fills in fields you omit when you create a provider; `relay providers presets` lists them',
      resolve: async (api, typed) => (await presetOf(api, typed)).slug,
    },
    name: {
      flag: 'name',
      describe: 'name',
      resolve: async (_api, typed) => typed,
      async only(api, { preset_slug }) {
        return typeof preset_slug === 'string' ? (await presetOf(api, preset_slug)).name : undefined;
      },
    },
  },
  next: ({ slug, auth_mode }) =>
    auth_mode === 'none'
      ? [`relay endpoints import ${slug}`]
      : [`relay providers set-credential ${slug}`, `relay endpoints import ${slug}`],
  fields: (shown, nowMs) => withHealthWords(plainFields(shown), shown as Provider, nowMs),
  extend(command, surroundings) {
    const test = command
      .command('test')
      .description('Test the connection: list the provider’s models with its stored credential')
      .argument('[provider]', 'provider: name, slug or ID (default: the only provider)');
    withOutput(withConnection(test)).action((name: string | undefined, options: OptionValues) =>
      runConnectionTest(surroundings, options, async (api) => {
        const { id, slug } = findOneOrOnly(await providers.list(api), name, providers.kind);
        const params = { path: { provider_id: id } };
        const result = await dataOf(
          api.management.POST('/api/relay/providers/{provider_id}/test', { params }),
        );
        return { result, tested: { provider: slug, endpoint: null } };
      }),
    );
    addProviderCommand(command, surroundings);
    addSetCredential(command, surroundings);
    addPresets(command, surroundings);
  },
});

export function providersCommand(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const command = new Command('providers').description(announcedResources.providers.description);
  return resourceCommand(command, surroundings, providers, argv);
}

function addPresets(parent: Command, surroundings: Surroundings): void {
  const command = parent.command('presets').description('List provider presets');
  withOutput(withConnection(command)).action(async (options: OptionValues) => {
    const api = await connect(surroundings, options);
    await printList(surroundings, options, await dataOf(api.management.GET('/api/relay/provider-presets')), {
      columns: [
        { title: 'slug', value: ({ slug }) => slug },
        { title: 'name', value: ({ name }) => name },
        { title: 'protocol', value: ({ protocol }) => protocol },
        { title: 'base url', value: ({ base_url }) => base_url, elastic: true },
      ],
      empty: 'No presets.',
    });
  });
}

const secretFlags = flagsOf({ properties: { secret: { type: 'string', writeOnly: true } } });

function addSetCredential(parent: Command, surroundings: Surroundings): void {
  const command = parent
    .command('set-credential')
    .description('Store or replace the provider’s credential. It is encrypted and never shown again')
    .argument('[provider]', 'provider: name, slug or ID (default: the only provider)')
    .option('--name <text>', 'name of the credential', 'primary');
  for (const option of secretFlags.options) command.addOption(option);
  withConnection(command).action(async (name: string | undefined, options: OptionValues) => {
    const { secret: given } = await secretFlags.read(surroundings, options);
    if (given === undefined && !canAsk(surroundings))
      throw usageError('No secret provided.', 'Add --secret-stdin or --secret-env VARIABLE.');
    const api = await connect(surroundings, options);
    const provider = findOneOrOnly(await providers.list(api), name, providers.kind);
    const secret =
      given ?? (await askHidden(surroundings, `Credential for ${plain(provider.name)} (hidden): `));
    if (typeof secret !== 'string' || secret === '')
      throw usageError('The secret is empty.', 'Add --secret-stdin or --secret-env VARIABLE.');
    const done = await storeCredential(api, provider.id, String(options['name']), secret);
    surroundings.stderr.write(`${done} credential ${options['name']} for ${provider.name}.\n`);
  });
}

async function storeCredential(api: Api, providerId: string, name: string, secret: string): Promise<string> {
  const all = await dataOf(api.management.GET('/api/relay/credentials'));
  const known = all.find((each) => each.provider_id === providerId && each.name === name);
  if (known === undefined) {
    await api.management.POST('/api/relay/credentials', { body: { provider_id: providerId, name, secret } });
    return 'Stored';
  }
  await api.management.PUT('/api/relay/credentials/{credential_id}', {
    params: { path: { credential_id: known.id } },
    body: { secret },
  });
  return 'Replaced';
}
