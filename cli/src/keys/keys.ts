import type { components } from '@relay/contract/api-types';
import { Command, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { canAsk, confirm } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { momentIn } from '../kit/time-range.ts';
import { timeText } from '../output/cells.ts';
import { formatOf, type OutputOptions, withOutput } from '../output/options.ts';
import { printList, printObject } from '../output/print.ts';
import type { Column } from '../output/table.ts';
import { type ConnectionOptions, withConnection } from '../session/connection.ts';
import { rotateKey } from './rotate-key.ts';

type ApiKey = components['schemas']['ApiKey'];
type Created = components['schemas']['ApiKeyCreated'];

const kind = { singular: 'key', plural: 'keys' };
const KEY = 'the key: its name, its prefix or its id';

const columns: readonly Column<ApiKey>[] = [
  { title: 'name', value: ({ name }) => name, elastic: true },
  { title: 'prefix', value: ({ key_prefix }) => key_prefix },
  {
    title: 'status',
    value: ({ status }) => status,
    tone: ({ status }) => (status === 'active' ? 'good' : 'quiet'),
  },
  { title: 'scopes', value: ({ scopes }) => scopes.join(' '), elastic: true },
  { title: 'last used', value: ({ last_used_at }) => timeText(last_used_at) },
  { title: 'expires', value: ({ expires_at }) => timeText(expires_at) },
];

interface CreateOptions {
  readonly name: string;
  readonly scope?: string[];
  readonly expires?: string;
}

export function keysCommand(surroundings: Surroundings): Command {
  const command = new Command('keys').description(
    'User API keys: what applications and people sign in with.',
  );
  const list = command.command('list').description('List your keys.');
  withOutput(withConnection(list))
    .option('--all', 'also revoked and expired ones')
    .option('--organization', 'the keys of everybody; needs cloud:security:manage')
    .action((options: OptionValues) => listKeys(surroundings, options));
  const create = command
    .command('create')
    .description('Create a key. The secret is shown once and never again.')
    .requiredOption('--name <text>', 'what to call it')
    .option('--scope <scope...>', 'what it may do (default: relay:request)')
    .option(
      '--expires <when>',
      'after such a time (90d) or at a date; without it, never',
      momentIn(surroundings.nowMs, 1),
    );
  withOutput(withConnection(create)).action(
    async (options: CreateOptions & ConnectionOptions & OutputOptions) => {
      const api = await connect(surroundings, options);
      const { name, scope, expires } = options;
      const body = { name, scopes: scope ?? ['relay:request'], expires_at: expires ?? null };
      await showSecret(
        surroundings,
        options,
        await dataOf(api.management.POST('/api/account/api-keys', { body })),
      );
    },
  );
  const rotate = command
    .command('rotate')
    .description(
      'Replace a key by a new one with the same name, scopes, expiry and budgets, and revoke the old one.',
    )
    .argument('<key>', KEY)
    .option('--keep-old', 'do not revoke the old one yet');
  withOutput(withConnection(rotate)).action(async (name: string, options: OptionValues) => {
    const api = await connect(surroundings, options);
    const old = findKey(await ownKeys(api), name);
    const { created, budgets } = await rotateKey(api, old, { revokeOld: options['keepOld'] !== true });
    surroundings.stderr.write(
      `${old.key_prefix}… is replaced by ${created.key.key_prefix}…, with ${budgets} of its budgets` +
        `${options['keepOld'] === true ? '; the old one still works' : ''}.\n`,
    );
    await showSecret(surroundings, options, created);
  });
  withConnection(
    command.command('revoke').description('Revoke a key at once and for good.').argument('<key>', KEY),
  )
    .option('-y, --yes', 'do not ask')
    .option('--organization', 'a key of anybody; needs cloud:security:manage')
    .action((name: string, options: OptionValues) => revoke(surroundings, name, options));
  return command;
}

async function listKeys(surroundings: Surroundings, options: OptionValues): Promise<void> {
  const api = await connect(surroundings, options);
  const all = options['organization'] === true ? await organizationKeys(api) : await ownKeys(api);
  const shown = options['all'] === true ? all : all.filter(({ status }) => status === 'active');
  await printList(surroundings, options, shown, {
    columns,
    empty:
      all.length > 0
        ? 'No key is active; --all shows the others.'
        : 'There are no keys yet; run `relay keys create --name NAME`.',
  });
}

async function revoke(surroundings: Surroundings, name: string, options: OptionValues): Promise<void> {
  if (options['yes'] !== true && !canAsk(surroundings)) {
    throw usageError('Revoking a key has to be confirmed.', 'add --yes');
  }
  const api = await connect(surroundings, options);
  const isOrganization = options['organization'] === true;
  const key = findKey(isOrganization ? await organizationKeys(api) : await ownKeys(api), name);
  const label = `${key.name} (${key.key_prefix}…)`;
  if (options['yes'] !== true && !(await confirm(surroundings, `Revoke the key ${label}?`))) {
    throw new ProgramError(`The key ${label} stays.`);
  }
  const params = { path: { api_key_id: key.id } };
  if (isOrganization) await api.management.DELETE('/api/org/api-keys/{api_key_id}', { params });
  else await api.management.DELETE('/api/account/api-keys/{api_key_id}', { params });
  surroundings.stderr.write(`The key ${label} is revoked.\n`);
}

async function ownKeys(api: Api): Promise<ApiKey[]> {
  return (await dataOf(api.management.GET('/api/account/api-keys'))).api_keys;
}

function organizationKeys(api: Api): Promise<ApiKey[]> {
  return dataOf(api.management.GET('/api/org/api-keys'));
}

/** Names are not unique, and revoked keys keep theirs; active keys come first. */
function findKey(all: readonly ApiKey[], wanted: string): ApiKey {
  const byPrefix = all.find(({ key_prefix }) => wanted.startsWith(key_prefix));
  if (byPrefix !== undefined) return byPrefix;
  const active = all.filter(({ status }) => status === 'active');
  try {
    return findOne(active, wanted, kind);
  } catch (error) {
    const isMissing = error instanceof ProgramError && error.exitCode === exitCodes.notFound;
    if (!isMissing) throw error;
    return findOne(all, wanted, kind);
  }
}

/** On a terminal, standard output has only the secret, so that it can be copied or captured. */
async function showSecret(
  surroundings: Surroundings,
  options: OptionValues,
  created: Created,
): Promise<void> {
  if (formatOf(surroundings, options) !== 'table') return printObject(surroundings, options, created);
  surroundings.stderr.write(`The key ${created.key.name}, shown this once:\n`);
  surroundings.stdout.write(`${created.api_key}\n`);
}
