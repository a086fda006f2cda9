import { Command } from 'commander';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { readContexts, writeContexts } from '../session/contexts.ts';

export function logoutCommand(surroundings: Surroundings): Command {
  return new Command('logout')
    .description(
      'Remove a login context and its tokens. The tokens stay valid; to revoke a key, run `relay keys revoke KEY`',
    )
    .option('--context <name>', 'login context (default: the current one)')
    .option('--all', 'remove all login contexts')
    .action((options: { context?: string; all?: true }) => logout(surroundings, options));
}

async function logout(surroundings: Surroundings, options: { context?: string; all?: true }): Promise<void> {
  const { contexts, current } = await readContexts(surroundings);
  const name = options.context ?? current;
  const isKnown = name !== null && contexts[name] !== undefined;
  if (!isKnown && options.all !== true) {
    throw new ProgramError(
      name === null ? 'Not logged in.' : `No login context is named "${name}".`,
      exitCodes.notFound,
      { fix: 'Run: `relay login`' },
    );
  }
  const left = options.all === true ? [] : Object.entries(contexts).filter(([each]) => each !== name);
  const next = left.some(([each]) => each === current) ? current : (left[0]?.[0] ?? null);
  await writeContexts(surroundings, { current: next, contexts: Object.fromEntries(left) });
  surroundings.stderr.write(
    options.all === true ? 'Removed all login contexts.\n' : `Removed login context ${name}.\n`,
  );
  if (next !== null && next !== current) surroundings.stderr.write(`Current context: ${next}.\n`);
}
