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
  const config = new Command('config').description('Keep the configuration in a file: relay.yaml.');
  withOutput(withFile(config.command('validate').description('Check a file without a server.')))
    .option('--partial', 'the file may name what is on the server alone')
    .action((file: string, options: ValidateOptions) => validate(surroundings, file, options));
  withOrphans(
    withFile(
      config.command('diff').description('Show what an apply would change; exits 5 when that is something.'),
    ),
  ).action((file: string, options: DiffOptions) => diff(surroundings, file, options));
  withOrphans(
    withFile(
      config
        .command('apply')
        .description('Make the server what the file says. Nothing is deleted without --prune.'),
    ),
  )
    .option('-y, --yes', 'do not ask')
    .action((file: string, options: ApplyOptions) => apply(surroundings, file, options));
  withConnection(
    config.command('export').description('Write the configuration of the server as a file, without secrets.'),
  )
    .addOption(
      new Option('-o, --output <format>', 'how to write it').choices(['yaml', 'json']).default('yaml'),
    )
    .option('--out <file>', 'write to this file instead of standard output')
    .action((options: ExportOptions) => exportConfig(surroundings, options));
  config
    .command('schema')
    .description('Print the JSON Schema of the file, for editors.')
    .action(() => schema(surroundings));
  config.addCommand(importCommand(surroundings));
  return config;
}

function importCommand(surroundings: Surroundings): Command {
  const command = new Command('import').description('Make a file from the configuration of another gateway.');
  command
    .command('litellm')
    .description('Make a file from LiteLLM’s config.yaml; what has no counterpart is reported.')
    .argument('<file>', 'LiteLLM’s config.yaml, - for standard input')
    .option('-o, --out <file>', 'write to this file instead of standard output')
    .option('--report <format>', 'the report on standard error: text or json', 'text')
    .action((file: string, options: ImportOptions) => importLitellm(surroundings, file, options));
  return command;
}

function withFile(command: Command): Command {
  return command.argument('[file]', 'the file, - for standard input', FILE);
}

function withOrphans(command: Command): Command {
  return withOutput(withConnection(command))
    .addOption(new Option('--prune', 'delete what the file owns and no longer names').conflicts('release'))
    .option('--release', 'give what the file owns and no longer names back to its other writers');
}

async function schema({ stdout }: Pick<Surroundings, 'stdout'>): Promise<void> {
  // Loaded here, because the other commands of this group do not need it.
  const { configSchemaText } = await import('@relay/contract');
  stdout.write(configSchemaText());
}
