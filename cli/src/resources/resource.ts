import type { Command, Option } from 'commander';
import type { Api } from '../api/client.ts';
import type { Kind, Named } from '../api/find-one.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import type { Cell } from '../output/cells.ts';
import type { Column } from '../output/table.ts';
import type { BodySchema, Reference } from './flags.ts';

export type Body = Readonly<Record<string, unknown>>;

/** A reference of a body, with how to turn what was typed into the field's value. */
export interface ResolvedReference extends Reference {
  /** `body` is what else was given: what a limit applies to decides where its target is looked for. */
  resolve(api: Api, typed: string, body: Body): Promise<string | number>;
  /** The value for a new resource if nothing was typed; undefined without one right answer. */
  only?(api: Api, body: Body): Promise<string | undefined>;
}

/** One flag for several fields. */
export interface Shorthand {
  readonly option: Option;
  body(typed: string): Body;
}

export interface Bodies {
  readonly create: BodySchema;
  readonly update: BodySchema;
}

/** One collection of the management interface, as the commands see it. */
export interface Resource<T extends Named> {
  readonly kind: Kind;
  /** How people name one, if not by name, slug or ID. */
  readonly identifiedBy?: string;
  readonly columns: readonly Column<T>[];
  /** A complete command that creates one; errors about missing flags show it. */
  readonly example?: string;
  /** Loaded where a body is written: the schemas come with the whole contract, which takes its time to load. */
  bodies(): Promise<Bodies>;
  readonly references?: Readonly<Record<string, ResolvedReference>>;
  readonly shorthands?: readonly Shorthand[];
  list(api: Api): Promise<readonly T[]>;
  /** What `get` shows, when that is more than the entry of the list. */
  get?(api: Api, found: T): Promise<object>;
  /** What a table shows of it, by its API names; `nowMs` for what counts from now. */
  fields?(shown: object, nowMs: number): readonly (readonly [string, Cell])[];
  create(api: Api, body: Body): Promise<T>;
  /** The commands that make a new one work. */
  next?(created: T): readonly string[];
  update(api: Api, id: string, body: Body): Promise<T>;
  remove(api: Api, id: string, takesOver: boolean): Promise<void>;
  /** A deletion may change what callable names stand for, and can say so. */
  readonly namesModels?: true;
  /** What the resource has beyond the common commands. */
  extend?(command: Command, surroundings: Surroundings, bodies: Bodies | null): void;
}
