import { randomUUIDv7 } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { allScopes, type ConfigPlan } from '@relay/contract';
import type { Position } from '@relay/contract/config-text';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { Log } from '../kit/log.ts';
import { applyConfigFile, type ConfigFileDeps } from '../management/config-file/routes.ts';
import { findSecrets, readConfigText } from '../management/config-file/text/index.ts';
import type { DatabaseHandle } from '../store/postgres/postgres.ts';
import { asStoreError } from '../store/store-error.ts';
import { variables } from './environment.ts';
import type { Owner } from './open-configuration.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';

/** The file cannot be applied. The message has the path, line, column and reason. */
export class ConfigFileError extends Error {}

export interface ConfigParts {
  readonly runtime: Pick<Runtime, 'environment' | 'roleName' | 'deployment' | 'clock' | 'log'>;
  readonly stores: { readonly database: Pick<DatabaseHandle, 'ofOrganization'> };
  readonly configuration: Pick<ConfigFileDeps, 'sealer' | 'snapshots' | 'fences'> & {
    readonly owner: Owner | null;
  };
  readonly upstream: Pick<ConfigFileDeps, 'egress'>;
  /** Looks up secrets given as `env:`; by default in the process environment. */
  readonly variable?: (name: string) => string | undefined;
}

/**
 * Applies the file that RELAY_CONFIG names. Several processes may do so concurrently: the first one writes, the others find
 * nothing to change. An invalid file stops the start, so that Relay never runs on an older configuration without notice.
 */
export async function applyConfigAtStart(parts: ConfigParts): Promise<ConfigPlan | null> {
  const { runtime, stores, configuration, upstream } = parts;
  const { environment, roleName, log } = runtime;
  const { owner, ...stored } = configuration;
  const path = environment.RELAY_CONFIG;
  if (path === null || owner === null || !roles[roleName].management) return null;
  const { config, findings, positionOf } = readConfigText(await textOf(path), { references: 'anywhere' });
  if (config === null)
    throw new ConfigFileError(findings.map((found) => at(path, found, found.message)).join('\n'));
  const { secrets } = await findSecrets(config, {
    variable: (name) => ownVariable(name) ?? (parts.variable ?? fromProcess)(name),
    file: (file) => readFile(resolve(dirname(path), file), 'utf8').catch(() => undefined),
  });
  try {
    const deps = {
      ...stored,
      ofOrganization: stores.database.ofOrganization,
      deployment: runtime.deployment,
      egress: upstream.egress,
      clock: runtime.clock,
      newId: randomUUIDv7,
    };
    const applying = { caller: callerOf(owner), requestId: randomUUIDv7() };
    const plan = await applyConfigFile(deps, applying, { config, secrets });
    logPlan(log, path, plan);
    return plan;
  } catch (error) {
    if (!(error instanceof RelayError)) throw asStoreError(error);
    const { param } = error.detail;
    const place = typeof param === 'string' ? positionOf(param) : { line: 1, column: 1 };
    throw new ConfigFileError(at(path, place, error.message), { cause: error });
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new ConfigFileError(`${path}: Relay can’t read the file that RELAY_CONFIG names (${code}).`);
  }
}

/** Hides Relay's own settings, so that a file cannot send the master key or a token to a provider. */
function ownVariable(name: string): string | undefined {
  return Object.hasOwn(variables, name) ? '' : undefined;
}

function fromProcess(name: string): string | undefined {
  return process.env[name];
}

function callerOf(owner: Owner): Caller {
  const scopes = new Set(allScopes);
  return {
    ...owner,
    keyId: null,
    sessionId: null,
    kind: 'admin_token',
    scopes,
    access: { granted: null, permissions: scopes, plan: 'self_hosted' },
    keyPolicies: [],
  };
}

function logPlan(log: Log, path: string, plan: ConfigPlan): void {
  const { creates, updates, orphaned } = plan;
  log.info({ path, creates, updates }, 'configuration file applied');
  if (orphaned.length === 0) return;
  log.warn(
    { path, orphaned: orphaned.length },
    'the configuration file manages resources that it no longer lists; `relay config apply` deletes them with --prune and releases them with --release',
  );
}

function at(path: string, { line, column }: Position, message: string): string {
  return `${path}:${line}:${column}: ${message}`;
}
