import type { TSchema } from 'typebox';
import type { RouteTable } from './route-definition.ts';

/**
 * A resource as its file in `resources/` announces it. Route tables, scopes, the configuration schema, the OpenAPI
 * document and the commands of the CLI are derived from these announcements; nothing lists a resource by hand.
 */
export interface ResourceDefinition {
  /** The position among the resources. A configuration item may name only items of sections with a lower position. */
  readonly order: number;
  /** The scopes that the resource introduces, each with what it permits. */
  readonly scopes?: Readonly<Record<string, string>>;
  readonly routes: RouteTable;
  readonly section?: SectionDefinition;
  readonly command?: CommandDefinition;
}

/** A section of the configuration file. */
export interface SectionDefinition {
  readonly name: string;
  /** What one item is called in messages and in the audit log. */
  readonly noun: string;
  readonly item: TSchema;
  /** What a key needs to export or plan a file, and to apply one. */
  readonly scopes: { readonly read: string; readonly manage: string };
  /**
   * Demand the `manage` scope only from a file that names or changes items of this section. Needed where a plan may
   * withhold the scope: the rest of the configuration stays applicable.
   */
  readonly manageWhenNamed?: true;
}

/** `relay <plural> list|get|create|update|delete`. */
export interface CommandDefinition {
  readonly singular: string;
  readonly plural: string;
  readonly summary: string;
  readonly description: string;
}
