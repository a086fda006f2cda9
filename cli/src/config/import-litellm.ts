import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { readInput } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { count, plain } from '../output/cells.ts';
import { writeOut } from './export.ts';
import type { Remark } from './litellm/source.ts';
import { lineOf } from './read-config.ts';

export interface ImportOptions {
  readonly out?: string;
  readonly report: string;
}

export async function importLitellm(
  surroundings: Surroundings,
  path: string,
  { out, report }: ImportOptions,
): Promise<void> {
  if (report !== 'text' && report !== 'json')
    throw usageError(`"${report}" is not a report format.`, 'Use text or json.');
  const text = await readInput(surroundings, path);
  const name = path === '-' ? 'standard input' : path;
  const { readYaml, writeConfigText } = await import('@relay/contract/config-text');
  const { readConfigText } = await import('@relay/server/config-file');
  const { importConfig } = await import('./litellm/import-config.ts');
  const yaml = readYaml(text);
  if (yaml.faults.length > 0)
    throw new ProgramError(yaml.faults.map((fault) => lineOf(name, fault)).join('\n  '));
  const { config, remarks } = importConfig(yaml, (variable) => surroundings.env[variable]);
  const { stderr } = surroundings;
  stderr.write(report === 'json' ? `${JSON.stringify(remarks)}\n` : remarkText(name, remarks));
  const lanes = config.lanes?.length ?? 0;
  if (lanes === 0)
    throw new ProgramError(`${name} has no model that Relay can import.`, exitCodes.error, {
      fix: 'See the report; model_list needs at least one model with an OpenAI-compatible API.',
    });
  const written = writeConfigText(config, [
    'Imported from a LiteLLM configuration. The import report lists what has no counterpart.',
  ]);
  const { findings } = readConfigText(written, { references: 'in_file' });
  if (findings.length > 0)
    throw new ProgramError(
      `The imported configuration is invalid: ${findings.map(({ message }) => plain(message)).join(' ')}`,
      exitCodes.error,
      {
        fix: 'Correct LiteLLM’s file, then import again.',
      },
    );
  await writeOut(surroundings, out, written);
  const left = remarks.filter(({ kind }) => kind === 'not_imported').length;
  if (report === 'text')
    stderr.write(
      `${count(lanes, 'lane')}, ${count(config.endpoints?.length ?? 0, 'endpoint')}, ${count(config.providers?.length ?? 0, 'provider')}, ${count(config.limit_policies?.length ?? 0, 'limit')}; ${count(left, 'setting')} without a counterpart.\n`,
    );
}

/** One paragraph for each reason, with its places. */
function remarkText(name: string, remarks: readonly Remark[]): string {
  const paragraphs = Map.groupBy(remarks, ({ kind, reason }) => `${SAID[kind]}: ${plain(reason)}`);
  const isLeft = ([, [first]]: readonly [string, readonly Remark[]]) => first?.kind === 'not_imported';
  const inOrder = [...paragraphs].toSorted((a, b) => Number(isLeft(b)) - Number(isLeft(a)));
  return inOrder
    .map(([reason, places]) =>
      [reason, ...places.map(({ line, column, path }) => `  ${name}:${line}:${column} ${plain(path)}`)]
        .map((text) => `${text}\n`)
        .join(''),
    )
    .join('');
}

const SAID = { not_imported: 'not imported', changed: 'changed' } as const;
