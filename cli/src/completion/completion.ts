import { Argument, Command } from 'commander';
import type { Surroundings } from '../kit/surroundings.ts';
import { commandWords } from './command-words.ts';
import { completionScript, type Shell, shells } from './scripts.ts';

export function completionCommand(
  { stdout }: Surroundings,
  _argv: readonly string[] | undefined,
  whole: () => Promise<Command>,
): Command {
  return new Command('completion')
    .description('Print shell completion. For bash: source <(relay completion bash)')
    .addArgument(new Argument('<shell>', 'shell').choices(shells))
    .action(async (shell: Shell) => {
      stdout.write(completionScript(shell, commandWords(await whole())));
    });
}
