import { Command, Option } from 'commander';
import type { Surroundings } from '../kit/surroundings.ts';
import { withOutput } from '../output/options.ts';
import { withConnection } from '../session/connection.ts';
import { type ApplyOptions, apply } from './apply.ts';
import { type DiffOptions, diff } from './diff.ts';
import { type ExportOptions, exportConfig } from './export.ts';
import { type ImportOptions, importLitellm } from './import-litellm.ts';
import { type ValidateOptions, validate } from './validate.ts';

const FILE = 'relay.yaml';

/** `relay config …`: the configuration as a file. */
export function configCommand(surroundings: Surroundings): Command {
  const config = new Command('config').description('Manage the configuration in a file: relay.yaml');
  withOutput(withFile(config.command('validate').description('Check a file without a server')))
    .option('--partial', 'allow references to resources that exist only on the server')
    .action((file: string, options: ValidateOptions) => validate(surroundings, file, options));
  withOrphans(
    withFile(
      config
        .command('diff')
        .description('Show what applying the file would change; exits 5 if anything differs'),
    ),
    'plan to ',
  ).action((file: string, options: DiffOptions) => diff(surroundings, file, options));
  withOrphans(
    withFile(config.command('apply').description('Apply the file to the server; deletes only with --prune')),
    '',
  )
    .option('--takes-over', 'allow changes to what existing callable names stand for')
    .option('-y, --yes', 'skip the confirmation')
    .action((file: string, options: ApplyOptions) => apply(surroundings, file, options));
  withConnection(
    config.command('export').description('Export the server’s configuration as a file, without secrets'),
  )
    .addOption(new Option('-o, --output <format>', 'file format').choices(['yaml', 'json']).default('yaml'))
    .option('--out <file>', 'target file (default: standard output)')
    .action((options: ExportOptions) => exportConfig(surroundings, options));
  config
    .command('schema')
    .description('Print the JSON Schema of the file, for editors')
    .action(() => schema(surroundings));
  config.addCommand(importCommand(surroundings));
  return config;
}

function importCommand(surroundings: Surroundings): Command {
  const command = new Command('import').description('Import the configuration of another gateway');
  command
    .command('litellm')
    .description(
      'Convert LiteLLM’s config.yaml to a configuration file, with a report of what has no counterpart',
    )
    .argument('<file>', 'LiteLLM’s config.yaml, - for standard input')
    .option('-o, --out <file>', 'target file (default: standard output)')
    .option('--report <format>', 'format of the report on standard error: text or json', 'text')
    .action((file: string, options: ImportOptions) => importLitellm(surroundings, file, options));
  return command;
}

function withFile(command: Command): Command {
  return command.argument('[file]', 'configuration file, - for standard input', FILE);
}

function withOrphans(command: Command, intent: '' | 'plan to '): Command {
  return withOutput(withConnection(command))
    .addOption(
      new Option('--prune', `${intent}delete resources that the file manages and does not list`).conflicts(
        'release',
      ),
    )
    .option('--release', `${intent}release resources that the file manages and does not list`);
}

async function schema({ stdout }: Pick<Surroundings, 'stdout'>): Promise<void> {
  // Loaded here, because the other commands of this group do not need it.
  const { configSchemaText } = await import('@relay/contract');
  stdout.write(configSchemaText());
}
