import { capitalized } from '@relay/contract/words';
import type { Command } from 'commander';
import { type Api, connect } from '../api/client.ts';
import { findOne, type Named } from '../api/find-one.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { canAsk, confirm } from '../kit/prompt.ts';
import { readObject } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { type OutputOptions, withOutput } from '../output/options.ts';
import { plainFields, printList, printObject } from '../output/print.ts';
import { type ConnectionOptions, withConnection } from '../session/connection.ts';
import { type BodySchema, type Flags, flagName, flagsOf } from './flags.ts';
import { type FlagOwner, wordsFor } from './option-words.ts';
import type { Body, Resource, Shorthand } from './resource.ts';

type CommonOptions = ConnectionOptions & OutputOptions;
type DeleteOptions = CommonOptions & { readonly yes?: true; readonly takesOver?: true };
type WriteOptions = CommonOptions & Readonly<Record<string, unknown>> & { readonly file?: string };

/** `list`, `get`, `create`, `update` and `delete` of one resource, and what it has beyond them. */
export async function resourceCommand<T extends Named>(
  command: Command,
  surroundings: Surroundings,
  resource: Resource<T>,
  argv: readonly string[] | undefined,
): Promise<Command> {
  const { singular, plural } = resource.kind;
  const noun = nounOf(resource);
  const article = /^[aeiou]/.test(noun) ? 'an' : 'a';
  const bodies = wantsBodies(argv) ? await resource.bodies() : null;
  const one = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .argument(`<${singular}>`, `${noun}: ${resource.identifiedBy ?? 'name, slug or ID'}`);
  withOutput(
    withConnection(command.command('list').description(`List ${plural.replaceAll('-', ' ')}`)),
  ).action((options: CommonOptions) => list(surroundings, resource, options));
  withOutput(withConnection(one('get', `Show ${article} ${noun}`))).action(
    (name: string, options: CommonOptions) => get(surroundings, resource, name, options),
  );
  const creating = command.command('create').description(`Create ${article} ${noun}`);
  const createFlags = addBody(creating, 'create', bodies?.create, resource);
  creating.action((options: WriteOptions) => create(surroundings, resource, createFlags, options));
  const updating = one('update', `Update ${article} ${noun}; fields you omit keep their values`);
  const updateFlags = addBody(updating, 'update', bodies?.update, resource);
  updating.action((name: string, options: WriteOptions) =>
    update(surroundings, resource, updateFlags, name, options),
  );
  const deleting = withConnection(one('delete', `Delete ${article} ${noun}`)).option(
    '-y, --yes',
    'skip the confirmation',
  );
  if (resource.namesModels === true) deleting.option('--takes-over', wordsFor('takes_over', null) ?? '');
  deleting.action((name: string, options: DeleteOptions) => remove(surroundings, resource, name, options));
  resource.extend?.(command, surroundings, bodies);
  return command;
}

/** `alert destination` for `alert-destination`. */
function nounOf<T extends Named>({ kind }: Resource<T>): string {
  return kind.singular.replaceAll('-', ' ');
}

/** Commands that take no body have no use for the schemas, and start in half the time without them. */
function wantsBodies(argv: readonly string[] | undefined): boolean {
  const writing = ['create', 'update', 'set-price', 'help'];
  return argv === undefined || argv.some((word) => writing.includes(word));
}

export const FILE_OPTION = [
  '-f, --file <path>',
  'request body as JSON or YAML, - for standard input; flags override it',
] as const;

function addBody<T extends Named>(
  command: Command,
  verb: FlagOwner['verb'],
  schema: BodySchema | undefined,
  { kind, references, shorthands = [] }: Resource<T>,
): Flags {
  const flags = flagsOf(schema ?? { properties: {} }, references, { verb, resource: kind.singular });
  for (const option of flags.options) command.addOption(option);
  for (const { option } of shorthands) command.addOption(option);
  command.option(...FILE_OPTION);
  withOutput(withConnection(command));
  return flags;
}

async function list<T extends Named>(
  surroundings: Surroundings,
  resource: Resource<T>,
  options: CommonOptions,
) {
  const api = await connect(surroundings, options);
  const { plural } = resource.kind;
  await printList(surroundings, options, await resource.list(api), {
    columns: resource.columns,
    empty: `No ${plural.replaceAll('-', ' ')} yet. Run: relay ${plural} create --help`,
  });
}

async function get<T extends Named>(
  surroundings: Surroundings,
  resource: Resource<T>,
  name: string,
  options: CommonOptions,
) {
  const api = await connect(surroundings, options);
  const found = findOne(await resource.list(api), name, resource.kind);
  const shown: object = (await resource.get?.(api, found)) ?? found;
  await printObject(surroundings, options, shown, fieldsOf(surroundings, resource));
}

function fieldsOf<T extends Named>({ nowMs }: Surroundings, resource: Resource<T>) {
  return (shown: object) => resource.fields?.(shown, nowMs()) ?? plainFields(shown);
}

/** A write returns the entry of the list, which `fields` cannot show where `get` shows more. */
function writtenFields<T extends Named>(surroundings: Surroundings, resource: Resource<T>) {
  return resource.get === undefined ? fieldsOf(surroundings, resource) : plainFields;
}

async function create<T extends Named>(
  surroundings: Surroundings,
  resource: Resource<T>,
  flags: Flags,
  options: WriteOptions,
) {
  const given = await givenBody(surroundings, flags, options, resource.shorthands);
  const api = await connect(surroundings, options);
  const body = await withIds(api, resource, await withOnly(api, resource, given));
  await validate((await resource.bodies()).create, body, resource);
  const made = await resource.create(api, body);
  surroundings.stderr.write(`Created ${nounOf(resource)} ${made.name ?? made.id}.\n`);
  await printObject(surroundings, options, made, writtenFields(surroundings, resource));
  for (const command of resource.next?.(made) ?? []) surroundings.stderr.write(`Next: ${command}\n`);
}

async function update<T extends Named>(
  surroundings: Surroundings,
  resource: Resource<T>,
  flags: Flags,
  name: string,
  options: WriteOptions,
) {
  const given = await givenBody(surroundings, flags, options, resource.shorthands);
  if (Object.keys(given).length === 0) {
    throw usageError('No changes specified.', 'Add a flag for each field to change, or --file.');
  }
  const api = await connect(surroundings, options);
  const found = findOne(await resource.list(api), name, resource.kind);
  const { update: schema } = await resource.bodies();
  const whole = await withIds(api, resource, { ...requiredOf(schema, found), ...given });
  await validate(schema, whole, resource);
  const changed = await resource.update(api, found.id, whole);
  surroundings.stderr.write(`Updated ${nounOf(resource)} ${changed.name ?? changed.id}.\n`);
  await printObject(surroundings, options, changed, writtenFields(surroundings, resource));
}

async function remove<T extends Named>(
  surroundings: Surroundings,
  resource: Resource<T>,
  name: string,
  options: DeleteOptions,
) {
  const noun = nounOf(resource);
  if (options.yes !== true && !canAsk(surroundings)) {
    throw usageError(`Deleting ${noun} ${name} requires confirmation.`, 'Add --yes.');
  }
  const api = await connect(surroundings, options);
  const found = findOne(await resource.list(api), name, resource.kind);
  const label = found.name ?? found.id;
  if (options.yes !== true && !(await confirm(surroundings, `Delete ${noun} ${label}?`))) {
    throw new ProgramError(`${capitalized(noun)} ${label} not deleted.`, exitCodes.error);
  }
  await resource.remove(api, found.id, options.takesOver === true);
  surroundings.stderr.write(`Deleted ${noun} ${label}.\n`);
}

export async function givenBody(
  surroundings: Surroundings,
  flags: Flags,
  options: WriteOptions,
  shorthands: readonly Shorthand[] = [],
): Promise<Body> {
  const { file } = options;
  const fromFile = typeof file === 'string' ? await readObject(surroundings, file) : {};
  const short = shorthands.map(({ option, body }) => {
    const typed = options[option.attributeName()];
    return typeof typed === 'string' ? body(typed) : {};
  });
  return Object.assign({}, fromFile, await flags.read(surroundings, options), ...short);
}

async function withOnly<T extends Named>(
  api: Api,
  { references = {} }: Resource<T>,
  body: Body,
): Promise<Body> {
  const found: Record<string, unknown> = { ...body };
  for (const [field, { only }] of Object.entries(references)) {
    if (found[field] === undefined) found[field] = await only?.(api, body);
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

async function withIds<T extends Named>(
  api: Api,
  { references = {} }: Resource<T>,
  body: Body,
): Promise<Body> {
  const resolved: Record<string, unknown> = { ...body };
  for (const [field, reference] of Object.entries(references)) {
    const typed = body[field];
    if (typeof typed === 'string') resolved[field] = await reference.resolve(api, typed, body);
  }
  return resolved;
}

/** A PUT replaces the resource, so required fields that were not given keep their current values. */
function requiredOf(schema: BodySchema, found: object): Body {
  const current = found as Body;
  return Object.fromEntries((schema.required ?? []).map((field) => [field, current[field]]));
}

/** Reports every invalid field by its flag, before sending. */
async function validate<T extends Named>(
  schema: BodySchema,
  body: Body,
  resource: Resource<T>,
): Promise<void> {
  const { compileValidator } = await import('@relay/contract');
  const verdict = compileValidator(schema as Parameters<typeof compileValidator>[0])(body);
  if (verdict.ok) return;
  const fields = [...new Set(verdict.issues.map(({ path }) => path))];
  const flags = fields
    .filter((field) => schema.properties[field] !== undefined)
    .map((field) => `--${flagName(field, resource.references?.[field])}`);
  const example = resource.example === undefined ? '' : ` Example: ${resource.example}`;
  throw usageError(
    `${verdict.issues.map(({ message }) => message).join('; ')}.`,
    flags.length === 0
      ? 'Correct the file.'
      : `Set ${new Intl.ListFormat('en-US').format(flags)}, or the fields in --file.${example}`,
  );
}
