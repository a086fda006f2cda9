import type { Command, OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { ProgramError, usageError } from '../kit/program-error.ts';
import { askHidden, canAsk } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { withConnection } from '../session/connection.ts';
import { chooserOf, keyInEnvironment, type SourcePreset } from '../sources/find-sources.ts';
import { DEFAULT_LANE, modelWords, setUpSources } from '../sources/set-up-sources.ts';
import { flagsOf } from './flags.ts';

const secretFlags = flagsOf({ properties: { secret: { type: 'string', writeOnly: true } } });

/** `relay providers add`: from a preset and a key to a lane that works. */
export function addProviderCommand(parent: Command, surroundings: Surroundings): void {
  const command = parent
    .command('add')
    .description('Add a provider with its credential, test it, and put its models into a lane')
    .argument('<preset>', 'preset; `relay providers presets` lists them')
    .option('--base-url <url>', 'base URL (default: from the preset)')
    .option('--name <text>', 'name of the provider (default: from the preset)')
    .option('--model <ids...>', 'upstream models (default: up to 3, chosen by Relay)')
    .option('--lane <lane>', 'lane that gets the models; created if missing', DEFAULT_LANE);
  for (const option of secretFlags.options) command.addOption(option);
  withConnection(command).action((preset: string, options: OptionValues) =>
    runAdd(surroundings, preset, options),
  );
}

async function runAdd(surroundings: Surroundings, typed: string, options: OptionValues): Promise<void> {
  const { secret: given } = await secretFlags.read(surroundings, options);
  const api = await connect(surroundings, options);
  const preset = await presetOf(api, typed);
  const { model, lane, name = preset.name, baseUrl = preset.base_url } = options as AddOptions;
  if (baseUrl.includes('{'))
    throw usageError(`${preset.name} needs your own base URL.`, `Add --base-url ${baseUrl}`);
  const needsSecret = preset.auth_mode !== 'none';
  const secret = needsSecret ? await demandSecret(surroundings, preset, { given, baseUrl }) : null;
  const choose = model === undefined ? chooserOf(preset.slug) : () => model;
  const [done] = await setUpSources(
    api.management,
    [{ slug: preset.slug, name, baseUrl, secret, choose }],
    lane,
  );
  if (done === undefined || done.problem !== null)
    throw new ProgramError(`${name} was not added. ${done?.problem ?? ''}`);
  const models = done.models.map((each) => `  ${modelWords(each)}\n`).join('');
  surroundings.stdout.write(`Added ${name} to lane ${lane}:\n${models}Try it: relay chat ${lane} Hello\n`);
}

interface AddOptions {
  readonly model?: readonly string[];
  readonly lane: string;
  readonly name?: string;
  readonly baseUrl?: string;
}

async function demandSecret(
  surroundings: Surroundings,
  preset: SourcePreset,
  { given, baseUrl }: { readonly given: unknown; readonly baseUrl: string },
): Promise<string> {
  if (typeof given === 'string' && given !== '') return given;
  // The variable has the provider's own key, which no other host may get.
  const isOwnHost = URL.parse(baseUrl)?.host === URL.parse(preset.base_url)?.host;
  const found = isOwnHost ? keyInEnvironment(surroundings.env, preset) : null;
  if (found !== null) {
    surroundings.stderr.write(`Using ${found.variable} from the environment.\n`);
    return found.secret;
  }
  if (canAsk(surroundings)) return askHidden(surroundings, `API key for ${preset.name} (hidden): `);
  throw usageError(`${preset.name} needs a credential.`, 'Add --secret-env VARIABLE or --secret-stdin.');
}

/** A preset by its slug or name. */
export async function presetOf(api: Api, typed: string) {
  const all = await dataOf(api.management.GET('/api/relay/provider-presets'));
  const found = all.find(({ slug, name }) => slug === typed || name.toLowerCase() === typed.toLowerCase());
  if (found !== undefined) return found;
  throw usageError(`No preset is named "${typed}".`, 'Run: `relay providers presets`');
}
