import { Command } from 'commander';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { readContexts, writeContexts } from '../session/contexts.ts';

export function logoutCommand(surroundings: Surroundings): Command {
  return new Command('logout')
    .description(
      'Forget a login context and its tokens. The tokens themselves stay valid: revoke keys with `relay keys revoke KEY`.',
    )
    .option('--context <name>', 'a context other than the current one')
    .option('--all', 'forget every context')
    .action((options: { context?: string; all?: true }) => logout(surroundings, options));
}

async function logout(surroundings: Surroundings, options: { context?: string; all?: true }): Promise<void> {
  const { contexts, current } = await readContexts(surroundings);
  const name = options.context ?? current;
  const isKnown = name !== null && contexts[name] !== undefined;
  if (!isKnown && options.all !== true) {
    throw new ProgramError(
      name === null ? 'Nobody is logged in.' : `There is no login context called ${name}.`,
      exitCodes.notFound,
      { fix: 'run `relay login`' },
    );
  }
  const left = options.all === true ? [] : Object.entries(contexts).filter(([each]) => each !== name);
  const next = left.some(([each]) => each === current) ? current : (left[0]?.[0] ?? null);
  await writeContexts(surroundings, { current: next, contexts: Object.fromEntries(left) });
  surroundings.stderr.write(
    options.all === true
      ? 'Every login context is forgotten.\n'
      : `The login context ${name} is forgotten.\n`,
  );
  if (next !== null && next !== current) surroundings.stderr.write(`The current context is now ${next}.\n`);
}
