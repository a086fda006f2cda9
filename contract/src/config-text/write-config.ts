import { stringify } from 'yaml';
import type { ConfigFile } from '../config-file.ts';

/** Editors with the YAML language server use this line for completion and validation. */
const HEAD = '# yaml-language-server: $schema=./relay.schema.json';

/** Writes the file deterministically; reading it gives the same configuration back. */
export function writeConfigText(config: ConfigFile, comments: readonly string[] = []): string {
  // Keeps long lines unfolded and quotes strings that YAML 1.1 readers take for booleans.
  const body = stringify(config, { lineWidth: 0, compat: 'yaml-1.1', aliasDuplicateObjects: false });
  return `${[HEAD, ...comments.map((comment) => `# ${comment}`)].join('\n')}\n${body}`;
}
