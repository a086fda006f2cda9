import type { ConfigPlan } from '@relay/contract';
import { dataOf } from '../api/client.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { canAsk, confirm } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { count } from '../output/cells.ts';
import { formatOf } from '../output/options.ts';
import { machineText } from '../output/print.ts';
import { type DiffOptions, orphansOf, type PlannedFile, planFile } from './diff.ts';
import { atPlace, lineOf } from './read-config.ts';
import { planText } from './show-plan.ts';

export interface ApplyOptions extends DiffOptions {
  readonly yes?: true;
  readonly takesOver?: true;
}

/** Applies exactly the plan. The server rejects it if the configuration has changed since. */
export async function apply(surroundings: Surroundings, path: string, options: ApplyOptions): Promise<void> {
  if (options.yes !== true && !canAsk(surroundings))
    throw usageError(
      'Applying a file requires confirmation.',
      'Add --yes. To see the changes first, run: `relay config diff`',
    );
  const planned = await planFile(surroundings, path, options);
  const { api, read, config, secrets, plan } = planned;
  const { stderr } = surroundings;
  stderr.write(planText(plan, stderr));
  if (plan.changes.length > 0) {
    demandSecrets(planned);
    demandNames(plan, options);
    if (options.yes !== true && !(await confirm(surroundings, `Apply this to ${api.connection.server}?`)))
      throw new ProgramError('No changes applied.', exitCodes.error);
  }
  const said = options.takesOver === true ? { takes_over: true } : {};
  const body = { config, secrets, plan_hash: plan.plan_hash, ...orphansOf(options), ...said };
  const done = await atPlace(read, dataOf(api.management.POST('/api/relay/config/apply', { body })));
  const format = formatOf(surroundings, options);
  if (format !== 'table') surroundings.stdout.write(await machineText(format, done));
  else if (done.changes.length > 0)
    surroundings.stdout.write(`Applied ${count(done.changes.length, 'change')}.\n`);
}

/** The plan shows the names; the server would reject the apply after the confirmation. */
function demandNames({ name_changes: names }: ConfigPlan, { takesOver }: ApplyOptions): void {
  if (names.length === 0 || takesOver === true) return;
  throw new ProgramError(
    `The file changes what ${count(names.length, 'callable name')} ${names.length === 1 ? 'stands' : 'stand'} for (marked !).`,
    exitCodes.error,
    { fix: 'Use other names, or add --takes-over.' },
  );
}

/** Reports all missing secrets together, each with its line. */
function demandSecrets({ read, config, secrets, plan }: PlannedFile): void {
  const needed = plan.required_secrets.filter((ref) => !Object.hasOwn(secrets, ref));
  if (needed.length === 0) return;
  const lines = Object.entries(config).flatMap(([section, items]) =>
    (Array.isArray(items) ? items : []).flatMap((item: { readonly secret_ref?: string | null }, index) => {
      const { secret_ref } = item;
      if (typeof secret_ref !== 'string' || !needed.includes(secret_ref)) return [];
      const where = `${section}[${index}].secret_ref`;
      const message = `${where} needs ${secret_ref}, which is ${secret_ref.startsWith('env:') ? 'not set' : 'not readable'} here.`;
      return [lineOf(read.name, { ...read.positionOf(where), message })];
    }),
  );
  throw new ProgramError(lines.join('\n  '), exitCodes.error, {
    fix: 'Set the variables, or make the files readable, where you apply the file.',
  });
}
