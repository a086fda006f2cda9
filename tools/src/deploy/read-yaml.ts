import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variables } from '@relay/server';
import { parseAllDocuments, parseDocument } from 'yaml';

export const DEPLOY = join(import.meta.dirname, '../../../deploy');

export type Value = Readonly<Record<string, unknown>>;

/** An object of a cluster, as far as all kinds have it. */
export interface ClusterObject extends Value {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

export function readYaml(path: string): Value {
  const document = parseDocument(readFileSync(join(DEPLOY, path), 'utf8'), { merge: true });
  if (document.errors.length > 0) throw new Error(`${path}: ${document.errors.join('\n')}`);
  return document.toJS() as Value;
}

/** What `kubectl apply -k` would send. */
export function renderKustomization(path: string): ClusterObject[] {
  const text = execFileSync('kubectl', ['kustomize', join(DEPLOY, path)], { encoding: 'utf8' });
  return parseAllDocuments(text).map((document) => document.toJS() as ClusterObject);
}

/** Names that Relay does not read: a setting with such a name has no effect, and nothing says so. */
export function unknownSettings(names: readonly string[]): string[] {
  return names.filter((name) => !Object.hasOwn(variables, name));
}
