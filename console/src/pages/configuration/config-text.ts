import { type ConfigFile, ConfigFile as ConfigFileSchema, checkValue } from '@relay/contract';
import { issuesIn } from '@relay/contract/client';
import { type Position, pathInFile, readYaml, type YamlText } from '@relay/contract/config-text';
import { ApiError } from '../../errors/api-error.ts';

/** An error in the file with its position. */
export interface Finding extends Position {
  /** The offset in the text, from 0. */
  readonly offset: number;
  readonly message: string;
}

export interface ConfigText {
  /** Null if the file is invalid; `findings` then has the errors. */
  readonly config: ConfigFile | null;
  readonly findings: readonly Finding[];
}

/** Parses a configuration file and validates it without the server. */
export function readConfigText(text: string): ConfigText {
  const yaml = readYaml(text);
  if (yaml.faults.length > 0)
    return { config: null, findings: yaml.faults.map((fault) => findingOf(text, fault, fault.message)) };
  const checked = checkValue(ConfigFileSchema, yaml.value);
  if (checked.ok) return { config: yaml.value as ConfigFile, findings: [] };
  const findings = checked.issues.map(({ path, message }) => findingAt(text, yaml, path, message));
  return { config: null, findings: findings.toSorted((a, b) => a.offset - b.offset) };
}

/** The server's errors at their positions in the text; empty if they are about no part of it. */
export function findingsOf(error: Error | null, text: string): readonly Finding[] {
  if (!(error instanceof ApiError) || error.status === 403) return [];
  const yaml = readYaml(text);
  return issuesIn(error.response).flatMap(({ path, message }) => {
    const inFile = pathInFile(yaml.value, path);
    return inFile === null ? [] : [findingAt(text, yaml, inFile, message)];
  });
}

function findingAt(text: string, yaml: YamlText, path: string, message: string): Finding {
  const of = message.startsWith('unknown field') ? 'key' : 'value';
  return findingOf(text, yaml.positionOf(path, of), message);
}

function findingOf(text: string, { line, column }: Position, message: string): Finding {
  const before = text.split('\n').slice(0, line - 1);
  const offset = before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  return { line, column, offset, message: message.endsWith('.') ? message : `${message}.` };
}

const BODY_BYTES_MAX = 1_048_576;

/** The size of a body that exceeds the API's limit; otherwise null. */
export function oversizeOf(body: object): { readonly bytes: number; readonly bytesMax: number } | null {
  const bytes = new TextEncoder().encode(JSON.stringify(body)).length;
  return bytes > BODY_BYTES_MAX ? { bytes, bytesMax: BODY_BYTES_MAX } : null;
}
