import { Argument, Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { canAsk, confirm } from '../kit/prompt.ts';
import { readIfPresent } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { withConnection } from '../session/connection.ts';
import type { Agent } from './agent.ts';
import { aider } from './aider.ts';
import { applyChange, backupPath, undoChange } from './changes.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { opencode } from './opencode.ts';
import { textDiff } from './text-diff.ts';

const agents: readonly Agent[] = [codex, opencode, aider, continueDev];
const KEY_VARIABLE = 'RELAY_API_KEY';

export function setupCommand(surroundings: Surroundings): Command {
  const command = new Command('setup')
    .description(
      'Point a coding agent at a lane: shows what would change in its settings, asks, and keeps a backup. No key is written into any file.',
    )
    .addArgument(new Argument('<agent>', 'the agent').choices(agents.map(({ name }) => name)))
    .option('--lane <name>', 'the lane or model to use (default: the only one there is)')
    .option('--key-variable <name>', 'the environment variable that holds the key', KEY_VARIABLE)
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--undo', 'put back what was there before')
    .option('--force', 'with --undo: even when the file was changed since')
    .option('-y, --yes', 'do not ask');
  return withConnection(command).action((name: string, options: OptionValues) => {
    const agent = agents.find((each) => each.name === name) ?? codex;
    return options['undo'] === true
      ? undo(surroundings, agent, options)
      : setUp(surroundings, agent, options);
  });
}

async function setUp(surroundings: Surroundings, agent: Agent, options: OptionValues): Promise<void> {
  const isDry = options['dryRun'] === true;
  if (!isDry && options['yes'] !== true && !canAsk(surroundings)) {
    throw usageError('Changing settings has to be confirmed.', 'add --yes, or look first with --dry-run');
  }
  const given = String(options['keyVariable']);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(given))
    throw usageError(`"${given}" cannot name an environment variable.`);
  const api = await connect(surroundings, options);
  const lane: string | undefined = options['lane'];
  const wish = {
    baseUrl: `${api.connection.server}/v1`,
    lane: lane ?? (await onlyLane(api)),
    keyVariable: agent.fixedKeyVariable ?? given,
  };
  const path = agent.path(surroundings);
  const before = await readIfPresent(path);
  const after = await agent.edit(before, wish);
  if (after === before) {
    surroundings.stderr.write(`${path} is as it should be.\n`);
    return;
  }
  surroundings.stdout.write(textDiff(path, before, after, surroundings.stdout));
  if (isDry) return;
  if (options['yes'] !== true && !(await confirm(surroundings, `Change the settings of ${agent.title}?`))) {
    throw new ProgramError('Nothing was changed.');
  }
  await applyChange(surroundings, agent.name, path, after);
  const kept = before === null ? '' : ` What was there is in ${backupPath(path)}.`;
  surroundings.stderr.write(`${path} is written.${kept}\n`);
  surroundings.stderr.write(
    `Next: ${agent.next(wish)}.\n\`relay setup ${agent.name} --undo\` takes it back.\n`,
  );
}

async function undo(surroundings: Surroundings, agent: Agent, options: OptionValues): Promise<void> {
  const path = await undoChange(surroundings, agent.name, options['force'] === true);
  surroundings.stderr.write(`${path} is as it was.\n`);
}

async function onlyLane(api: Api): Promise<string> {
  const { data } = await dataOf(api.inference.GET('/models'));
  const lanes = data.filter(({ owned_by }) => owned_by === 'relay').map(({ id }) => id);
  const names = lanes.length > 0 ? lanes : data.map(({ id }) => id);
  if (names.length === 1 && names[0] !== undefined) return names[0];
  throw new ProgramError(
    names.length === 0 ? 'There is no lane to use.' : 'There is more than one lane.',
    exitCodes.usage,
    {
      fix:
        names.length === 0
          ? 'run `relay lanes create --name NAME`'
          : `add --lane with one of ${names.slice(0, 10).join(', ')}`,
    },
  );
}
