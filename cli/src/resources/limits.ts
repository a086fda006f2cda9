import type { LimitMetric } from '@relay/contract';
import type { components } from '@relay/contract/api-types';
import { Command, InvalidArgumentError, Option, type OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollarsToMicros } from '../kit/units.ts';
import { dollars, untilText } from '../output/cells.ts';
import { kindWords } from '../output/limit-words.ts';
import { withOutput } from '../output/options.ts';
import { plainFields, printList, printObject } from '../output/print.ts';
import type { Column } from '../output/table.ts';
import { withConnection } from '../session/connection.ts';
import { announcedResource } from './announced-resource.ts';
import { endpoints } from './endpoints.ts';
import { wholeNumber } from './flags.ts';
import { lanes } from './lanes.ts';
import { providers } from './providers.ts';
import type { Resource } from './resource.ts';
import { resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

/** With the name of what is limited, which is what people know it by. */
type LimitPolicy = components['schemas']['LimitPolicy'] & { readonly scope?: string | null };
type LimitUsage = components['schemas']['LimitUsage'];

const IDENTIFIED_BY = 'ID, or its first characters';

export const limits: Resource<LimitPolicy> = announcedResource(announcedResources.limits, {
  columns: [
    { title: 'id', value: ({ id }) => id },
    { title: 'scope', value: ({ scope_type }) => scope_type },
    { title: 'applies to', value: ({ scope }) => scope, elastic: true },
    { title: 'metric', value: ({ metric }) => metric },
    { title: 'period', value: ({ period }) => period },
    { title: 'limit', value: ({ metric, limit_value }) => amount(metric, limit_value), align: 'right' },
    { title: 'enforcement', value: ({ enforcement }) => enforcement },
    { title: 'enabled', value: ({ enabled }) => enabled },
  ],
  identifiedBy: IDENTIFIED_BY,
  example: 'relay limits create --scope-type lane --scope default --spend 50 --period month',
  references: {
    scope_id: {
      flag: 'scope',
      describe: 'resource that the limit applies to: name, slug or ID; not for global',
      resolve: (api, typed, body) => scopeId(api, typed, body['scope_type']),
    },
    limit_value: {
      flag: 'limit-value',
      describe: 'maximum per window: a whole number; for a budget, use --spend',
      resolve: async (_api, typed, { metric }) => limitValue(typed, metric),
    },
  },
  shorthands: [
    {
      option: new Option(
        '--spend <dollars>',
        'a budget in dollars, without a $ sign: --spend 12.50; short for --metric spend --limit-value',
      ).conflicts(['metric', 'limitValue']),
      body: (typed) => ({ metric: 'spend', limit_value: `$${typed.replace(/^\$/, '')}` }),
    },
  ],
  fields: (shown) => amountFields(shown as LimitPolicy),
  async list(api) {
    const policies = await dataOf(api.management.GET('/api/relay/limit-policies'));
    const names = await scopeNames(api, new Set(policies.map(({ scope_type }) => scope_type)));
    return policies.map((policy) => ({ ...policy, scope: names.get(policy.scope_id ?? '') ?? null }));
  },
  extend(command, surroundings) {
    const test = command
      .command('test')
      .description('Show how much of a limit is used, reserved and left; exits 6 when it is reached')
      .argument('<limit>', `limit: ${IDENTIFIED_BY}`);
    withOutput(withConnection(test)).action((name: string, options: OptionValues) =>
      showRoom(surroundings, options, name),
    );
    const usage = command.command('usage').description('List the current usage of all limits');
    withOutput(withConnection(usage)).action(async (options: OptionValues) => {
      const api = await connect(surroundings, options);
      await printList(surroundings, options, await usageOf(api), {
        columns: usageColumns(surroundings.nowMs()),
        empty: 'No limits yet. Run: relay limits create --help',
      });
    });
  },
});

export function limitsCommand(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const command = new Command('limits').description(announcedResources.limits.description);
  return resourceCommand(command, surroundings, limits, argv);
}

const usageColumns = (nowMs: number): readonly Column<LimitUsage>[] => [
  { title: 'id', value: ({ policy_id }) => policy_id },
  { title: 'kind', value: ({ policy_kind }) => kindWords[policy_kind] },
  { title: 'scope', value: ({ scope_type }) => scope_type },
  { title: 'metric', value: ({ metric }) => metric },
  { title: 'period', value: ({ period }) => period },
  { title: 'limit', value: ({ metric, limit }) => amount(metric, limit), align: 'right' },
  { title: 'used', value: ({ metric, used }) => amount(metric, used), align: 'right' },
  { title: 'reserved', value: ({ metric, reserved }) => amount(metric, reserved), align: 'right' },
  {
    title: 'left',
    value: ({ metric, remaining }) => amount(metric, remaining),
    align: 'right',
    tone: ({ remaining }) => (remaining === 0 ? 'bad' : null),
  },
  { title: 'resets', value: ({ resets_at }) => untilText(resets_at, nowMs) },
];

const IN_MICRO_DOLLARS: Readonly<Record<LimitMetric, boolean>> = {
  requests: false,
  tokens: false,
  spend: true,
  concurrency: false,
};

function amount(metric: LimitMetric, value: number): string {
  return IN_MICRO_DOLLARS[metric] ? dollars(value) : value.toLocaleString('en-US');
}

/** Amounts of a spend limit in dollars. */
function amountFields(shown: { readonly metric: LimitMetric }): ReturnType<typeof plainFields> {
  const amounts: readonly string[] = ['limit_value', 'limit', 'used', 'reserved', 'remaining'];
  return plainFields(shown).map(([name, value]) =>
    amounts.includes(name) ? [name, amount(shown.metric, Number(value))] : [name, value],
  );
}

/** What was typed as an amount, in the unit of the API. */
function limitValue(typed: string, metric: unknown): number {
  // Without its sign, 50 in a file could be meant as micro-dollars, the unit of the API.
  if (metric === 'spend' && !typed.startsWith('$'))
    throw usageError(
      'A limit on spend takes an amount in dollars.',
      'Use --spend instead of --metric spend and --limit-value, without a $ sign, which a shell replaces: --spend 12.50',
    );
  try {
    return metric === 'spend' ? dollarsToMicros(typed) : wholeNumber(typed);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw usageError(
      `"${typed}" is not a valid limit for ${String(metric)}. ${error.message}`,
      metric === 'spend' ? 'Change --spend.' : 'Change --limit-value.',
    );
  }
}

function usageOf(api: Api): Promise<LimitUsage[]> {
  return dataOf(api.management.GET('/api/relay/limits/usage'));
}

async function showRoom(surroundings: Surroundings, options: OptionValues, name: string): Promise<void> {
  const api = await connect(surroundings, options);
  const policy = findOne(await limits.list(api), name, limits.kind);
  const state = (await usageOf(api)).find(({ policy_id }) => policy_id === policy.id);
  if (state === undefined) {
    throw new ProgramError('The limit is disabled.', exitCodes.error, {
      fix: `Run: \`relay limits update ${policy.id} --enabled\``,
    });
  }
  await printObject(surroundings, options, state, amountFields);
  if (state.remaining > 0) return;
  const resets =
    state.resets_at === null
      ? 'Requests in flight must finish first.'
      : `It resets ${untilText(state.resets_at, surroundings.nowMs())}.`;
  throw new ProgramError('The limit has been reached.', exitCodes.rateLimited, {
    fix: `${resets} To raise it, run: \`relay limits update ${policy.id} --limit-value N\``,
  });
}

/** Only what some limit is about is asked for. */
async function scopeNames(api: Api, scopes: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const lists = [
    scopes.has('provider') ? await providers.list(api) : [],
    scopes.has('endpoint') ? await endpoints.list(api) : [],
    scopes.has('lane') ? await lanes.list(api) : [],
    scopes.has('credential') ? await dataOf(api.management.GET('/api/relay/credentials')) : [],
  ];
  return new Map(lists.flat().map(({ id, name }) => [id, name]));
}

/** What is limited is looked for among the things of its kind. */
async function scopeId(api: Api, typed: string, scopeType: unknown): Promise<string> {
  switch (scopeType) {
    case 'provider':
      return findOne(await providers.list(api), typed, providers.kind).id;
    case 'endpoint':
      return findOne(await endpoints.list(api), typed, endpoints.kind).id;
    case 'lane':
      return findOne(await lanes.list(api), typed, lanes.kind).id;
    case 'credential': {
      const all = await dataOf(api.management.GET('/api/relay/credentials'));
      return findOne(all, typed, { singular: 'credential', plural: 'credentials' }).id;
    }
    default:
      throw usageError(
        '--scope needs --scope-type.',
        'Add --scope-type provider, credential, endpoint or lane.',
      );
  }
}
