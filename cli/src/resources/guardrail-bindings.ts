import type { components } from '@relay/contract/api-types';
import type { Command, OptionValues } from 'commander';
import { type Api, connect, dataOf } from '../api/client.ts';
import { findOne, type Named } from '../api/find-one.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { withOutput } from '../output/options.ts';
import { printList } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { endpoints } from './endpoints.ts';
import { lanes } from './lanes.ts';
import { providers } from './providers.ts';

type Binding = components['schemas']['GuardrailBinding'];
type Target = Pick<Binding, 'target_type' | 'target_id'>;
type Find = (api: Api, name: string) => Promise<Named>;

/** `bind` and `unbind`: the interface replaces the whole set, so both read it, change it and write it back. */
export function addBinding(parent: Command, surroundings: Surroundings, find: Find): void {
  const add = (
    name: string,
    description: string,
    change: (now: readonly Binding[], target: Target) => Target[],
  ) => {
    const command = parent
      .command(name)
      .description(description)
      .argument('<guardrail>', 'guardrail: name, slug or ID')
      .option('--global', 'all requests')
      .option('--lane <name>', 'lane: name, slug or ID')
      .option('--provider <name>', 'provider: name, slug or ID')
      .option('--endpoint <name>', 'endpoint: name, slug or ID');
    withOutput(withConnection(command)).action(async (guardrail: string, options: OptionValues) => {
      checkTarget(options);
      const api = await connect(surroundings, options);
      const { id } = await find(api, guardrail);
      const target = await targetOf(api, options);
      const path = { guardrail_id: id };
      const now = await dataOf(
        api.management.GET('/api/relay/guardrails/{guardrail_id}/bindings', { params: { path } }),
      );
      const bindings = await dataOf(
        api.management.PUT('/api/relay/guardrails/{guardrail_id}/bindings', {
          params: { path },
          body: { bindings: change(now, target) },
        }),
      );
      await printList(surroundings, options, bindings, {
        columns: [
          { title: 'bound to', value: ({ target_type }) => target_type },
          { title: 'target', value: ({ target_id }) => target_id },
          { title: 'enabled', value: ({ enabled }) => enabled },
        ],
        empty: 'Not bound. No requests are checked.',
      });
    });
  };
  add('bind', 'Bind a guardrail to a lane, provider or endpoint, or to all requests', (now, target) => [
    ...now.filter((each) => !isSame(each, target)).map(written),
    target,
  ]);
  add('unbind', 'Remove a binding', (now, target) => {
    if (now.some((each) => isSame(each, target)))
      return now.filter((each) => !isSame(each, target)).map(written);
    throw new ProgramError('The guardrail is not bound to this target.', exitCodes.notFound, {
      fix: 'Check its bindings. Run: `relay guardrails get GUARDRAIL`',
    });
  });
}

function checkTarget({ global: isGlobal, lane, provider, endpoint }: OptionValues): void {
  const given = [isGlobal, lane, provider, endpoint].filter((each) => each !== undefined);
  if (given.length === 1) return;
  throw usageError('Name one target.', 'Add one of --global, --lane, --provider or --endpoint.');
}

async function targetOf(api: Api, { lane, provider, endpoint }: OptionValues): Promise<Target> {
  if (lane !== undefined) {
    return { target_type: 'lane', target_id: findOne(await lanes.list(api), lane, lanes.kind).id };
  }
  if (provider !== undefined) {
    return {
      target_type: 'provider',
      target_id: findOne(await providers.list(api), provider, providers.kind).id,
    };
  }
  if (endpoint !== undefined) {
    return {
      target_type: 'endpoint',
      target_id: findOne(await endpoints.list(api), endpoint, endpoints.kind).id,
    };
  }
  return { target_type: 'global', target_id: null };
}

function isSame(one: Target, other: Target): boolean {
  return one.target_type === other.target_type && one.target_id === other.target_id;
}

function written({ target_type, target_id, enabled }: Binding) {
  return { target_type, target_id, enabled };
}
