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
import { asStoreError } from '../store/store-error.ts';
import { type Environment, variables } from './environment.ts';
import { type RoleName, roles } from './roles.ts';

/** The file cannot be applied; the text says where in it and why. */
export class ConfigFileError extends Error {}

export interface ConfigParts {
  readonly environment: Environment;
  readonly role: RoleName;
  /** The organization of a self-hosted deployment; null when it is hosted. */
  readonly owner: { readonly organizationId: string; readonly userId: string } | null;
  readonly deps: ConfigFileDeps;
  readonly log: Log;
  /** Where secrets by `env:` are looked up. */
  readonly variable?: (name: string) => string | undefined;
}

/**
 * Applies the file that RELAY_CONFIG names. Any number of processes may do so at once: the first one writes, and the
 * others find that nothing changes. A file that cannot be applied whole stops the start, because the gateway would run on
 * something else than its operator has written.
 */
export async function applyConfigAtStart(parts: ConfigParts): Promise<ConfigPlan | null> {
  const { environment, role, owner, deps, log } = parts;
  const path = environment.RELAY_CONFIG;
  if (path === null || owner === null || !roles[role].management) return null;
  const { config, findings, positionOf } = readConfigText(await textOf(path), { references: 'anywhere' });
  if (config === null)
    throw new ConfigFileError(findings.map((found) => at(path, found, found.message)).join('\n'));
  const { secrets } = await findSecrets(config, {
    variable: (name) => ownVariable(name) ?? (parts.variable ?? fromProcess)(name),
    file: (file) => readFile(resolve(dirname(path), file), 'utf8').catch(() => undefined),
  });
  try {
    const applying = { caller: callerOf(owner), requestId: randomUUIDv7() };
    const plan = await applyConfigFile(deps, applying, { config, secrets });
    tell(log, path, plan);
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
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigFileError(
      `${path}: the file that RELAY_CONFIG names cannot be read (${code ?? 'unknown reason'}).`,
    );
  }
}

/** A setting of the server is no provider's secret, whatever a file says: sent upstream it would be somebody else's. */
function ownVariable(name: string): string | undefined {
  return Object.hasOwn(variables, name) ? '' : undefined;
}

function fromProcess(name: string): string | undefined {
  return process.env[name];
}

function callerOf(owner: { readonly organizationId: string; readonly userId: string }): Caller {
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

function tell(log: Log, path: string, plan: ConfigPlan): void {
  const { creates, updates, orphaned } = plan;
  log.info({ path, creates, updates }, 'configuration file applied');
  if (orphaned.length === 0) return;
  log.warn(
    { path, orphaned: orphaned.length },
    'the configuration file owns what it no longer names; relay config apply with --prune deletes it, with --release frees it',
  );
}

function at(path: string, { line, column }: Position, message: string): string {
  return `${path}:${line}:${column}: ${message}`;
}
