import { Command } from 'commander';
import { dataDirectoryOf } from '../kit/data-directory.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { type OutputOptions, withOutput } from '../output/options.ts';
import { printList } from '../output/print.ts';

interface Flags extends OutputOptions {
  readonly dataDir?: string;
  readonly loseKeys?: boolean;
}

type Rotation = ReturnType<typeof import('@relay/server').rotationCommands>;
type Status = Awaited<ReturnType<Rotation['status']>>[number];

const STATES: Record<Status['state'], string> = {
  one_value: 'one value',
  new_value_configured: 'new value configured, not in use',
  old_value_still_accepted: 'new value in use, old one still accepted',
  not_recorded: 'not recorded yet',
};

export function rotateKeyCommand(surroundings: Surroundings): Command {
  const command = new Command('rotate-key').description(
    'Replace the master key, the authentication secret or a token, in steps that no running process fails in. Needs DATABASE_URL and the ' +
      'secrets of a process; without DATABASE_URL, uses the data directory of a stopped `relay start`. Steps: docs/operate/rotation.md',
  );
  const step = (name: string, text: string) =>
    command
      .command(name)
      .description(text)
      .option(
        '--data-dir <dir>',
        'data directory of `relay start` (default: $RELAY_DATA_DIR, or ./relay-data)',
      );
  const say = (text: string) => void surroundings.stdout.write(`${text}\n`);

  withOutput(step('status', 'List the secrets, and what the next step of each waits for')).action(
    async (_flags: Flags, self: Command) => {
      const flags = self.optsWithGlobals<Flags>();
      await printStatus(surroundings, flags, await rotate(surroundings, flags, (steps) => steps.status()));
    },
  );
  step(
    'go',
    'Use the new values, once every running process accepts them, and encrypt stored secrets again',
  ).action(async (flags: Flags) => {
    const names = await rotate(surroundings, flags, (steps) => steps.go());
    say(
      names.length === 0
        ? 'Every newest value is in use already.'
        : `In use in every process: ${names.join(', ')}.`,
    );
  });
  step('back', 'Use the earlier values again, and encrypt stored secrets under the earlier key').action(
    async (flags: Flags) => {
      const names = await rotate(surroundings, flags, (steps) => steps.back());
      say(
        names.length === 0
          ? 'There is no earlier value to go back to.'
          : `Back at the earlier value: ${names.join(', ')}.`,
      );
    },
  );
  step('finish', 'Stop accepting the earlier values, if nothing needs them any more')
    .option('--lose-keys', 'end API keys that only the earlier value can verify')
    .action(async (flags: Flags) => {
      const loseKeys = flags.loseKeys === true;
      const names = await rotate(surroundings, flags, (steps) => steps.finish({ loseKeys }));
      say(
        names.length === 0
          ? 'No earlier value is accepted.'
          : `Remove the earlier values from every process: ${names.map((name) => `${name}_PREVIOUS`).join(', ')}.`,
      );
    });
  step(
    'reset',
    'After a secret was lost, with every process stopped: take the values of this environment as the deployment’s',
  ).action(async (flags: Flags) => {
    const { lostKeyIds } = await rotate(surroundings, flags, (steps) => steps.reset());
    say('Recorded the values of this environment. Start every process with them.');
    if (lostKeyIds.length > 0)
      say(
        `Store these again, because their key is lost (${lostKeyIds.join(', ')}): provider credentials, secrets of guardrails and of alert destinations.`,
      );
  });
  return command;
}

function printStatus(surroundings: Surroundings, flags: Flags, states: readonly Status[]): Promise<void> {
  return printList(surroundings, flags, states, {
    columns: [
      { title: 'SECRET', value: ({ name }) => name },
      { title: 'STATE', value: ({ state }) => STATES[state] },
      { title: 'PROCESSES', value: ({ ready, processes }) => `${ready} of ${processes} accept the newest` },
      { title: 'WAITS FOR', value: ({ waits_for }) => waits_for },
    ],
    empty: 'No secret is recorded yet.',
  });
}

async function rotate<T>(
  surroundings: Surroundings,
  flags: Flags,
  step: (steps: Rotation) => Promise<T>,
): Promise<T> {
  const { env } = surroundings;
  const isOnServer = flags.dataDir === undefined && (env['DATABASE_URL']?.trim() ?? '') !== '';
  const directory = isOnServer ? null : dataDirectoryOf(flags.dataDir, surroundings);
  // Loaded here, because most commands do not need the server.
  const { DirectoryInUseError, EnvironmentError, RotationRefusedError, rotationCommands, SecretsError } =
    await import('@relay/server');
  try {
    return await step(rotationCommands(env, directory));
  } catch (error) {
    if (error instanceof EnvironmentError)
      throw new ProgramError(`The settings are invalid:\n${error.message}`);
    if (error instanceof RotationRefusedError || error instanceof SecretsError)
      throw new ProgramError(error.message);
    if (error instanceof DirectoryInUseError)
      throw new ProgramError(error.message, exitCodes.error, { fix: 'Stop that process, then try again.' });
    throw error;
  }
}
