import type { Document, YAMLMap } from 'yaml';
import { exitCodes, ProgramError } from '../kit/program-error.ts';

/** A YAML file with a map at its root. */
export async function readYamlSettings(text: string, name: string): Promise<Document<YAMLMap>> {
  const { isMap, parseDocument } = await import('yaml');
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault === undefined && isMap(document.contents)) return document as unknown as Document<YAMLMap>;
  const { line, col } = fault?.linePos?.[0] ?? { line: 1, col: 1 };
  throw new ProgramError(`${name}:${line}:${col} is not valid YAML.`, exitCodes.error, {
    fix: 'Correct the file first.',
  });
}
