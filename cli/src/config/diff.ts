import type { ConfigFile, ConfigPlan } from '@relay/contract';
import { type Api, connect, dataOf } from '../api/client.ts';
import { exitCodes, Outcome } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { formatOf, type OutputOptions } from '../output/options.ts';
import { machineText } from '../output/print.ts';
import type { ConnectionOptions } from '../session/connection.ts';
import { atPlace, type ReadConfig, readGoodConfig, secretsOf } from './read-config.ts';
import { planText } from './show-plan.ts';

export interface DiffOptions extends ConnectionOptions, OutputOptions {
  readonly prune?: true;
  readonly release?: true;
}

/** A file with its secrets and the server's plan for it. */
export interface PlannedFile {
  readonly api: Api;
  readonly read: ReadConfig;
  readonly config: ConfigFile;
  readonly secrets: Record<string, string>;
  readonly plan: ConfigPlan;
}

export async function planFile(
  surroundings: Surroundings,
  path: string,
  options: DiffOptions,
): Promise<PlannedFile> {
  const { read, config } = await readGoodConfig(surroundings, path);
  const { secrets } = await secretsOf(surroundings, path, config);
  const api = await connect(surroundings, options);
  const body = { config, secrets, ...orphansOf(options) };
  const plan = await atPlace(read, dataOf(api.management.POST('/api/relay/config/plan', { body })));
  return { api, read, config, secrets, plan };
}

export function orphansOf({ prune, release }: DiffOptions): { prune?: true; release?: true } {
  return { ...(prune === true ? { prune } : {}), ...(release === true ? { release } : {}) };
}

export async function diff(surroundings: Surroundings, path: string, options: DiffOptions): Promise<void> {
  const { plan } = await planFile(surroundings, path, options);
  const format = formatOf(surroundings, options);
  const { stdout } = surroundings;
  stdout.write(format === 'table' ? planText(plan, stdout) : await machineText(format, plan));
  if (plan.changes.length > 0 || plan.orphaned.length > 0) throw new Outcome(exitCodes.differs);
}
