import type { ConfigFile } from '@relay/contract';
import { exitCodes, Outcome } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { count } from '../output/cells.ts';
import { formatOf, type OutputOptions } from '../output/options.ts';
import { machineText } from '../output/print.ts';
import { lineOf, readConfig } from './read-config.ts';

export interface ValidateOptions extends OutputOptions {
  readonly partial?: true;
}

export async function validate(
  surroundings: Surroundings,
  path: string,
  options: ValidateOptions,
): Promise<void> {
  const references = options.partial === true ? 'anywhere' : 'in_file';
  const { name, config, findings } = await readConfig(surroundings, path, { references });
  const format = formatOf(surroundings, options);
  const { stdout, stderr } = surroundings;
  if (format !== 'table')
    stdout.write(
      await machineText(
        format,
        findings.map((finding) => ({ file: name, ...finding })),
      ),
    );
  else for (const finding of findings) stdout.write(`${lineOf(name, finding)}\n`);
  if (config !== null) {
    stderr.write(`${name} is valid: ${count(objectsIn(config), 'resource')}.\n`);
    return;
  }
  stderr.write(`${name}: ${count(findings.length, 'error')}.\n`);
  throw new Outcome(exitCodes.error);
}

function objectsIn(config: ConfigFile): number {
  return Object.values(config).reduce<number>(
    (sum, items) => sum + (Array.isArray(items) ? items.length : 0),
    0,
  );
}
