import Type, { type Static } from 'typebox';
import { resourceSections, sectionNames } from './resource-list.ts';
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
      description: 'Delete what the file owns and no longer names. Nothing else is deleted.',
    }),
  ),
  release: optional(
    flag({
      default: false,
      description: 'Give what the file owns and no longer names back to its other writers.',
    }),
  ),
};

const Secrets = Type.Record(Type.String(), WriteOnlySecret, {
  writeOnly: true,
  description: 'Secrets by their `secret_ref`. One that differs from what is stored replaces it.',
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
  plan_hash: optional(text({ maxLength: 200, description: 'Refuse when the plan is no longer this one.' })),
  secrets: optional(Secrets),
});
export type ConfigApplyRequest = Static<typeof ConfigApplyRequest>;

const Section = oneOf(sectionNames);

const ConfigChange = closed('ConfigChange', {
  action: oneOf(['create', 'update', 'delete', 'release']),
  section: Section,
  key: Type.String({ description: 'What the item is known by in the file, such as its slug.' }),
  id: nullable(Id, { description: 'Null for a create that has not been applied.' }),
  fields: Type.Array(
    closed('ConfigFieldChange', {
      field: Type.String(),
      before: OpenJson,
      after: OpenJson,
    }),
  ),
});

export const ConfigPlan = closed('ConfigPlan', {
  plan_hash: Type.String({ description: 'Of the changes; the same for the same changes.' }),
  creates: integer(),
  updates: integer(),
  deletes: integer(),
  releases: integer(),
  changes: Type.Array(ConfigChange),
  orphaned: Type.Array(closed('ConfigOrphan', { section: Section, key: Type.String(), id: Id }), {
    description: 'What the file owns and no longer names, and stays owned without `prune` or `release`.',
  }),
  required_secrets: Type.Array(Type.String(), {
    description: 'The `secret_ref`s whose values an apply has to carry.',
  }),
  secrets: Type.Array(
    closed('ConfigSecretState', {
      section: Section,
      key: Type.String(),
      secret_ref: Type.String(),
      state: oneOf(['changed', 'unchanged', 'unknown'], {
        description:
          'Whether the secret that was sent differs from what is stored. `unknown`: it was not sent, or the caller may not replace it.',
      }),
    }),
    { description: 'Every secret that the file refers to.' },
  ),
});
export type ConfigPlan = Static<typeof ConfigPlan>;
