import { realpath } from 'node:fs/promises';
import { Argument, Command, type OptionValues } from 'commander';
import { type Api, createApi } from '../api/client.ts';
import { ProgramError, usageError } from '../kit/program-error.ts';
import { readIfPresent } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { codeOf } from '../kit/values.ts';
import { printList } from '../output/print.ts';
import { resolveConnection, withConnection } from '../session/connection.ts';
import { aider } from './aider.ts';
import { applyChange, backupPath, undoChange } from './changes.ts';
import { chooseModel, demandCallable } from './choose-model.ts';
import { claudeCode } from './claude-code.ts';
import type { Client, SettingsFile, Wish } from './client.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { cursor } from './cursor.ts';
import { createKey, givenKey } from './find-key.ts';
import { hideSecrets } from './hide-secrets.ts';
import { openaiSdk } from './openai-sdk.ts';
import { opencode } from './opencode.ts';
import { textDiff } from './text-diff.ts';

const clients: readonly Client[] = [claudeCode, codex, cursor, opencode, continueDev, aider, openaiSdk];
const KEY_VARIABLE = 'RELAY_API_KEY';
/** Stands for the key where it is not shown. */
const HIDDEN_KEY = 'rly_…';

export function setupCommand(surroundings: Surroundings): Command {
  const command = new Command('setup')
    .description(
      'Point a client at Relay: print its settings, or write them into its settings file. Without a client, list clients',
    )
    .addArgument(new Argument('[client]', 'client').choices(clients.map(({ name }) => name)))
    .option('--model <name>', 'lane or model (default: the only lane)')
    .option('--write', 'merge into the settings file, show the changes, and keep a backup')
    .option(
      '--key <key>',
      `API key (default: $${KEY_VARIABLE}, or a new key if one must be written or shown)`,
    )
    .option('--show-key', 'print the key; create one if there is none')
    .option('--key-variable <name>', 'environment variable from which the client reads the key', KEY_VARIABLE)
    .option('--undo', 'restore the earlier settings')
    .option('--force', 'with --undo: restore even if the file has changed');
  return withConnection(command).action((name: string | undefined, options: OptionValues) => {
    const client = clients.find((each) => each.name === name);
    if (client === undefined) return listClients(surroundings);
    return options['undo'] === true
      ? undo(surroundings, client, options)
      : setUp(surroundings, client, options);
  });
}

function listClients(surroundings: Surroundings): Promise<void> {
  const rows = clients.map(({ name, title, file }) => ({
    name,
    client: title,
    file: file?.path(surroundings) ?? null,
  }));
  return printList(surroundings, {}, rows, {
    columns: [
      { title: 'name', value: ({ name }) => name },
      { title: 'client', value: ({ client }) => client },
      { title: 'file', value: ({ file }) => file ?? 'printed only', elastic: true },
    ],
    empty: '',
  });
}

async function setUp(surroundings: Surroundings, client: Client, options: OptionValues): Promise<void> {
  const isWrite = options['write'] === true;
  if (isWrite && client.file === null)
    throw usageError(`${client.title} has no settings file that Relay can write.`, 'Remove --write.');
  const keyVariable = String(options['keyVariable']);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(keyVariable))
    throw usageError(`"${keyVariable}" is not a valid environment variable name.`);
  const key = givenKey(surroundings, options['key']);
  const connection = await resolveConnection(surroundings, options);
  const inference = key ?? connection.tokens.inference;
  const api = createApi(surroundings, { ...connection, tokens: { ...connection.tokens, inference } });
  const wish = {
    server: connection.server,
    baseUrl: `${connection.server}/v1`,
    model:
      typeof options['model'] === 'string'
        ? await demandCallable(surroundings, api, options['model'])
        : await chooseModel(surroundings, api),
    keyVariable: client.fixedKeyVariable ?? keyVariable,
    key: HIDDEN_KEY,
  };
  const isShown = options['showKey'] === true;
  if (isWrite && client.file !== null) {
    await write(surroundings, client, client.file, { api, wish, key, isShown });
  } else {
    await print(surroundings, client, {
      ...wish,
      key: isShown ? (key ?? (await createKey(surroundings, api, client))) : HIDDEN_KEY,
    });
  }
}

async function print(surroundings: Surroundings, client: Client, wish: Wish): Promise<void> {
  const { stdout, stderr } = surroundings;
  if (client.file !== null) {
    const text = await client.file.edit(null, wish);
    stdout.write(`In ${client.file.path(surroundings)}:\n\n${text.replaceAll(/^(?=.)/gm, '  ')}\n`);
  }
  stdout.write(client.steps(wish));
  if (client.file !== null)
    stderr.write(`\nTo merge this into the file, run: relay setup ${client.name} --write\n`);
  if (wish.key === HIDDEN_KEY)
    stderr.write(
      `${HIDDEN_KEY} stands for your key. To create one, run: relay keys create --name ${client.name}\n`,
    );
}

interface Writing {
  readonly api: Api;
  readonly wish: Wish;
  readonly key: string | null;
  readonly isShown: boolean;
}

async function write(
  surroundings: Surroundings,
  client: Client,
  file: SettingsFile,
  { api, wish, key: given, isShown }: Writing,
): Promise<void> {
  const { stdout, stderr } = surroundings;
  const path = await realPathOf(file.path(surroundings));
  const before = await readIfPresent(path);
  // A file that cannot be parsed is rejected before a key is created for it.
  await file.edit(before, wish);
  const hasKey = file.keyIn !== undefined;
  const known = given ?? file.keyIn?.(before, wish.server) ?? null;
  const key = known ?? (hasKey || isShown ? await createKey(surroundings, api, client) : wish.key);
  const after = await file.edit(before, { ...wish, key });
  const shown = { ...wish, key: isShown ? key : HIDDEN_KEY };
  if (after === before) {
    stderr.write(`${path} already has these settings.\n`);
  } else {
    const onScreen = (text: string) => (isShown ? text : hideSecrets(text, key));
    const seen = before === null ? null : onScreen(before);
    stdout.write(textDiff(path, seen, onScreen(after), stdout));
    await applyChange(surroundings, client.name, path, after, hasKey);
    const kept = before === null ? '' : ` Backup: ${backupPath(path)}.`;
    stderr.write(`Wrote ${path}.${kept}\n`);
    stderr.write(`To undo, run: relay setup ${client.name} --undo\n`);
  }
  stderr.write(`\n${client.steps(shown)}`);
}

/** A link stays one: what it points to is written. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return path;
    throw new ProgramError(`Can't read ${path}: ${codeOf(error)}`);
  }
}

async function undo(surroundings: Surroundings, client: Client, options: OptionValues): Promise<void> {
  const { path, existed } = await undoChange(surroundings, client.name, options['force'] === true);
  surroundings.stderr.write(`${existed ? 'Restored' : 'Deleted'} ${path}.\n`);
}
