import type { components } from '@relay/contract/api-types';
import { Command, InvalidArgumentError, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { teamId } from '../api/find-team.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { canAsk, confirm } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { momentIn } from '../kit/time-range.ts';
import { count, timeText } from '../output/cells.ts';
import { formatOf, type OutputOptions, withOutput } from '../output/options.ts';
import { printList, printObject } from '../output/print.ts';
import type { Column } from '../output/table.ts';
import { type ConnectionOptions, withConnection } from '../session/connection.ts';
import { rotateKey } from './rotate-key.ts';
import { showSnippets } from './show-snippets.ts';

type ApiKey = components['schemas']['ApiKey'];
type Created = components['schemas']['ApiKeyCreated'];

const kind = { singular: 'key', plural: 'keys' };
const KEY = 'API key: name, prefix or ID';

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
  readonly team?: string;
  readonly label?: Record<string, string>;
}

export function keysCommand(surroundings: Surroundings): Command {
  const command = new Command('keys').description('Manage API keys');
  const list = command.command('list').description('List your API keys');
  withOutput(withConnection(list))
    .option('--all', 'include revoked and expired keys')
    .option('--organization', 'all keys in the organization; needs cloud:security:manage')
    .action((options: OptionValues) => listKeys(surroundings, options));
  const create = command
    .command('create')
    .description('Create an API key and show it once, with examples')
    .requiredOption('--name <text>', 'name of the key')
    .option('--scope <scope...>', 'scopes (default: relay:request)')
    .option('--expires <when>', 'expiry: 90d or a date (default: never)', momentIn(surroundings.nowMs, 1))
    .option('--team <team>', 'team: name, slug or ID (default: your team)')
    .option('--label <name=value...>', 'labels for reports, such as app=search', withLabel);
  withOutput(withConnection(create)).action(
    async (options: CreateOptions & ConnectionOptions & OutputOptions) => {
      const api = await connect(surroundings, options);
      const { name, scope, expires, team, label } = options;
      const body = {
        name,
        scopes: scope ?? ['relay:request'],
        expires_at: expires ?? null,
        ...(team !== undefined && { team_id: await teamId(api, team) }),
        ...(label !== undefined && { labels: label }),
      };
      const created = await dataOf(api.management.POST('/api/account/api-keys', { body }));
      await showSecret(surroundings, options, created);
      // Where output is kept, such as in a log of CI, the key appears once and no more.
      const { stdout, stderr } = surroundings;
      const isSeen = stdout.isTTY && stderr.isTTY && formatOf(surroundings, options) === 'table';
      if (isSeen && created.key.scopes.includes('relay:request'))
        await showSnippets(surroundings, api, created.api_key);
    },
  );
  const rotate = command
    .command('rotate')
    .description(
      'Replace a key with a new one that has the same name, scopes, expiry, team, labels and limits, and revoke the old one',
    )
    .argument('<key>', KEY)
    .option('--keep-old', 'keep the old key active');
  withOutput(withConnection(rotate)).action(async (name: string, options: OptionValues) => {
    const api = await connect(surroundings, options);
    const old = findKey(await ownKeys(api), name);
    const { created, budgets } = await rotateKey(api, old, { revokeOld: options['keepOld'] !== true });
    surroundings.stderr.write(
      `Replaced ${old.key_prefix}… with ${created.key.key_prefix}… and copied ${count(budgets, 'limit')}` +
        `${options['keepOld'] === true ? '; the old key stays active' : ''}.\n`,
    );
    await showSecret(surroundings, options, created);
  });
  withConnection(
    command
      .command('revoke')
      .description('Revoke a key immediately; this can’t be undone')
      .argument('<key>', KEY),
  )
    .option('-y, --yes', 'skip the confirmation')
    .option('--organization', 'any key in the organization; needs cloud:security:manage')
    .action((name: string, options: OptionValues) => revoke(surroundings, name, options));
  return command;
}

function withLabel(typed: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(typed) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('A label is a name and a value, such as app=search.');
  return { ...before, [name]: value };
}

async function listKeys(surroundings: Surroundings, options: OptionValues): Promise<void> {
  const api = await connect(surroundings, options);
  const all = options['organization'] === true ? await organizationKeys(api) : await ownKeys(api);
  const shown = options['all'] === true ? all : all.filter(({ status }) => status === 'active');
  await printList(surroundings, options, shown, {
    columns,
    empty:
      all.length > 0
        ? 'No active keys. To list the others, add --all.'
        : 'No keys yet. Run: relay keys create --name NAME',
  });
}

async function revoke(surroundings: Surroundings, name: string, options: OptionValues): Promise<void> {
  if (options['yes'] !== true && !canAsk(surroundings)) {
    throw usageError('Revoking a key requires confirmation.', 'Add --yes.');
  }
  const api = await connect(surroundings, options);
  const isOrganization = options['organization'] === true;
  const key = findKey(isOrganization ? await organizationKeys(api) : await ownKeys(api), name);
  const label = `${key.name} (${key.key_prefix}…)`;
  if (options['yes'] !== true && !(await confirm(surroundings, `Revoke key ${label}?`))) {
    throw new ProgramError(`Key ${label} not revoked.`);
  }
  const params = { path: { api_key_id: key.id } };
  if (isOrganization) await api.management.DELETE('/api/org/api-keys/{api_key_id}', { params });
  else await api.management.DELETE('/api/account/api-keys/{api_key_id}', { params });
  surroundings.stderr.write(`Revoked key ${label}.\n`);
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
  surroundings.stderr.write(`API key ${created.key.name} (shown only once):\n`);
  surroundings.stdout.write(`${created.api_key}\n`);
}
