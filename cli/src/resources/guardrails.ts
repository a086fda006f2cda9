import type { components } from '@relay/contract/api-types';
import { Command, Option, type OptionValues } from 'commander';
import { connect, dataOf } from '../api/client.ts';
import { findOne } from '../api/find-one.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { readStdin } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { milliseconds } from '../output/cells.ts';
import { withOutput } from '../output/options.ts';
import { plainFields, printList, printObject } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { announcedResource } from './announced-resource.ts';
import { addBinding } from './guardrail-bindings.ts';
import type { Resource } from './resource.ts';
import { resourceCommand } from './resource-command.ts';
import { announcedResources } from './resource-list.ts';

type Guardrail = components['schemas']['Guardrail'];
type Binding = components['schemas']['GuardrailBinding'];

export const guardrails: Resource<Guardrail> = announcedResource(announcedResources.guardrails, {
  columns: [
    { title: 'name', value: ({ name }) => name, elastic: true },
    { title: 'slug', value: ({ slug }) => slug },
    { title: 'preset', value: ({ preset_slug }) => preset_slug },
    { title: 'base url', value: ({ base_url }) => base_url, elastic: true },
    { title: 'on failure', value: ({ failure_mode }) => failure_mode },
    { title: 'bindings', value: ({ binding_count }) => binding_count, align: 'right' },
    { title: 'enabled', value: ({ enabled }) => enabled },
  ],
  async get(api, { id }) {
    const found = await dataOf(
      api.management.GET('/api/relay/guardrails/{guardrail_id}', { params: { path: { guardrail_id: id } } }),
    );
    return { ...found.guardrail, bindings: found.bindings };
  },
  fields(shown) {
    const { bindings, ...guardrail } = shown as Guardrail & { bindings: Binding[] };
    const targets = bindings.map(({ target_type, target_id }) => `${target_type} ${target_id ?? ''}`.trim());
    return [...plainFields(guardrail), ['bindings', targets.join(', ') || 'none']];
  },
  extend(command, surroundings) {
    addTest(command, surroundings);
    addPresets(command, surroundings);
    const find = async (api: Parameters<typeof guardrails.list>[0], name: string) =>
      findOne(await guardrails.list(api), name, guardrails.kind);
    addBinding(command, surroundings, find);
  },
});

export function guardrailsCommand(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const command = new Command('guardrails').description(announcedResources.guardrails.description);
  return resourceCommand(command, surroundings, guardrails, argv);
}

function addTest(parent: Command, surroundings: Surroundings): void {
  const command = parent
    .command('test')
    .description('Check text and show the verdict')
    .argument('<guardrail>', 'guardrail: name, slug or ID')
    .option('--text <text>', 'text to check (default: standard input)')
    .addOption(
      new Option(
        '--stage <stage>',
        'stage: pre_dispatch for a prompt, post_response for a response (default: where the guardrail runs)',
      ).choices(['pre_dispatch', 'post_response']),
    );
  withOutput(withConnection(command)).action(async (name: string, options: OptionValues) => {
    const { text: given, stage } = options;
    if (given === undefined && surroundings.stdin.isTTY)
      throw usageError('No text provided.', 'Add --text TEXT, or pipe it in.');
    const text: string = given ?? (await readStdin(surroundings));
    const api = await connect(surroundings, options);
    const { id } = findOne(await guardrails.list(api), name, guardrails.kind);
    const result = await dataOf(
      api.management.POST('/api/relay/guardrails/{guardrail_id}/test', {
        params: { path: { guardrail_id: id } },
        body: { text, ...(stage === undefined ? {} : { stage }) },
      }),
    );
    await printObject(surroundings, options, result, ({ verdict, latency_ms, cause, message }) => [
      ['verdict', verdict],
      ['stage', result.stage],
      ['time', milliseconds(latency_ms)],
      ['cause', cause],
      ['message', message],
    ]);
    if (result.verdict === 'unavailable') throw new ProgramError(result.message, exitCodes.error);
  });
}

function addPresets(parent: Command, surroundings: Surroundings): void {
  const command = parent.command('presets').description('List guardrail presets');
  withOutput(withConnection(command)).action(async (options: OptionValues) => {
    const api = await connect(surroundings, options);
    await printList(surroundings, options, await dataOf(api.management.GET('/api/relay/guardrail-presets')), {
      columns: [
        { title: 'slug', value: ({ slug }) => slug },
        { title: 'name', value: ({ name }) => name },
        { title: 'description', value: ({ description }) => description, elastic: true },
      ],
      empty: 'No presets.',
    });
  });
}
