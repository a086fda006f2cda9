import Type, { type Static } from 'typebox';
import { resourceSections, sectionNames } from './resource-list.ts';
import { DeletedLimit } from './resources/limit-usage.ts';
import { NameChange, TakesOver } from './resources/values.ts';
import {
  closed,
  flag,
  Id,
  integer,
  nullable,
  OpenJson,
  oneOf,
  optional,
  text,
  WriteOnlySecret,
} from './schema.ts';

/** The declarative file. It never carries a secret. */
export const ConfigFile = closed('ConfigFile', { version: Type.Literal(1), ...resourceSections });
export type ConfigFile = Static<typeof ConfigFile>;

const orphans = {
  prune: optional(
    flag({
      default: false,
      description:
        'Delete resources that are managed by file but not in the file, along with memberships, bindings, credentials and prices of resources in the file that it does not name. Nothing else is deleted.',
    }),
  ),
  release: optional(
    flag({
      default: false,
      description: 'Release resources that are managed by file but no longer in the file.',
    }),
  ),
};

const Secrets = Type.Record(Type.String(), WriteOnlySecret, {
  writeOnly: true,
  description: 'Secrets, by `secret_ref`. A secret that differs from the stored one replaces it.',
});

export const ConfigPlanRequest = closed('ConfigPlanRequest', {
  config: ConfigFile,
  ...orphans,
  secrets: optional(Secrets),
});
export type ConfigPlanRequest = Static<typeof ConfigPlanRequest>;

export const ConfigApplyRequest = closed('ConfigApplyRequest', {
  config: ConfigFile,
  ...orphans,
  plan_hash: optional(text({ maxLength: 200, description: 'Rejects the apply if the plan has changed.' })),
  secrets: optional(Secrets),
  takes_over: TakesOver,
});
export type ConfigApplyRequest = Static<typeof ConfigApplyRequest>;

const Section = oneOf(sectionNames);

const ConfigChange = closed('ConfigChange', {
  action: oneOf(['create', 'update', 'delete', 'release']),
  section: Section,
  key: Type.String({ description: 'Identifies the item in the file, such as its slug.' }),
  id: nullable(Id, { description: 'Null for a create that is not applied yet.' }),
  fields: Type.Array(
    closed('ConfigFieldChange', {
      field: Type.String(),
      before: OpenJson,
      after: OpenJson,
    }),
  ),
});

export const ConfigPlan = closed('ConfigPlan', {
  plan_hash: Type.String({ description: 'A hash of the changes. The same changes have the same hash.' }),
  creates: integer(),
  updates: integer(),
  deletes: integer(),
  releases: integer(),
  changes: Type.Array(ConfigChange),
  orphaned: Type.Array(closed('ConfigOrphan', { section: Section, key: Type.String(), id: Id }), {
    description:
      'Resources that the file manages and does not name: those that were in it, and memberships, bindings, credentials and prices of resources in it. Without `prune` or `release` they stay.',
  }),
  name_changes: Type.Array(NameChange, {
    description: 'Callable names that the apply changes. Such an apply needs `takes_over`.',
  }),
  deleted_limits: Type.Array(DeletedLimit, {
    description: 'Limits of members, keys and teams that are deleted along with what the apply deletes.',
  }),
  required_secrets: Type.Array(Type.String(), {
    description: 'The `secret_ref`s whose values the apply request must include.',
  }),
  secrets: Type.Array(
    closed('ConfigSecretState', {
      section: Section,
      key: Type.String(),
      secret_ref: Type.String(),
      state: oneOf(['changed', 'unchanged', 'unknown'], {
        description:
          'Whether the secret in the request differs from the stored one. `unknown`: the request has no such secret, or the caller is not allowed to replace it.',
      }),
    }),
    { description: 'All secrets that the file refers to.' },
  ),
});
export type ConfigPlan = Static<typeof ConfigPlan>;
