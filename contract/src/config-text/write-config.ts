import { stringify } from 'yaml';
import type { ConfigFile } from '../config-file.ts';

/** Editors that know the YAML language server complete and check the file by this line. */
const HEAD = '# yaml-language-server: $schema=./relay.schema.json';

/** The file as text. The same configuration gives the same bytes, and reading them gives the configuration back. */
export function writeConfigText(config: ConfigFile, comments: readonly string[] = []): string {
  // Lines are never folded, and what an older reader would take for a boolean is quoted.
  const body = stringify(config, { lineWidth: 0, compat: 'yaml-1.1', aliasDuplicateObjects: false });
  return `${[HEAD, ...comments.map((comment) => `# ${comment}`)].join('\n')}\n${body}`;
}
