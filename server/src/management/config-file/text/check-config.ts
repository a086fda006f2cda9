import {
  type ConfigFile,
  ConfigFile as ConfigFileSchema,
  compileValidator,
  type Issue,
} from '@relay/contract';
import { type Finding, type Position, pathInFile, readYaml } from '@relay/contract/config-text';
import { parseTargetUrl } from '../../../kit/egress/target-url.ts';
import { allSections } from '../../registry/section-list.ts';
import { readItems } from '../read-file.ts';

export interface ConfigText {
  /** Null when the file is invalid; `findings` then lists the errors. */
  readonly config: ConfigFile | null;
  readonly findings: readonly Finding[];
  positionOf(path: string): Position;
}

/** `in_file`: every referenced item must be in the file. `anywhere`: it may exist only on the server. */
export interface CheckOptions {
  readonly references: 'in_file' | 'anywhere';
}

/** Reads the text of a configuration file and checks what can be checked without a server. */
export function readConfigText(text: string, { references }: CheckOptions): ConfigText {
  const yaml = readYaml(text);
  const positionOf = (path: string) => yaml.positionOf(pathInFile(yaml.value, path) ?? path);
  if (yaml.faults.length > 0) return { config: null, findings: yaml.faults, positionOf };
  const shape = compileValidator(ConfigFileSchema)(yaml.value);
  if (!shape.ok) {
    const findings = shape.issues.map((issue) => {
      const message = wordsOf(issue);
      const of = issue.message.startsWith('unknown field') ? 'key' : 'value';
      return { path: issue.path, message, ...yaml.positionOf(issue.path, of) };
    });
    return { config: null, findings: inOrder(findings), positionOf };
  }
  const config = yaml.value as ConfigFile;
  const issues = issuesOf(config, references);
  if (issues.length === 0) return { config, findings: [], positionOf };
  const findings = issues.map((issue) => ({ ...issue, ...positionOf(issue.path) }));
  return { config: null, findings: inOrder(findings), positionOf };
}

/** Only the server knows which private networks it allows, so this checks only the syntax of URLs. */
const offline = { egress: { check: parseTargetUrl } };

function issuesOf(config: ConfigFile, references: CheckOptions['references']): Issue[] {
  const { items, faults } = readItems(config, allSections, offline);
  const issues = faults.map(({ detail, message }) => ({ path: detail.param ?? '', message }));
  if (references === 'anywhere') return issues;
  // References to a rejected item are not reported again.
  if (issues.length > 0) return issues;
  for (const section of allSections) {
    for (const { path, entry } of items.get(section.name)?.values() ?? []) {
      for (const { field, section: named, key } of section.referencesOf(entry)) {
        if (items.get(named)?.has(key) === true) continue;
        const message = `${path}.${field} names "${key}", which is not among the ${named} in the file. Add it, or correct the name.`;
        issues.push({ path: `${path}.${field}`, message });
      }
    }
  }
  return issues;
}

const INLINE_SECRET = /(?:^|\.)(?:secret|api_key|apikey|key|token|password)$/;

/**
 * Rewords messages of the contract, which are about request bodies, for a file. A secret in the file gets its
 * own advice.
 */
function wordsOf({ path, message }: Issue): string {
  if (path === '') return 'the file must be a mapping with `version: 1`.';
  const isUnknown = message.startsWith('unknown field');
  if (path.endsWith('secret_ref') && !message.endsWith('is required'))
    return `${path} must say where the secret is: env:NAME or file:/path. The secret itself is never in the file.`;
  if (isUnknown && INLINE_SECRET.test(path))
    return `${path} would put a secret into the file. Use secret_ref with env:NAME or file:/path, and remove the secret.`;
  return `${message}.`;
}

function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => a.line - b.line || a.column - b.column);
}
