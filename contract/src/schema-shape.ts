import type { TSchema } from 'typebox';

/** The JSON Schema keywords that this package uses, readable from any schema. */
export interface Shape {
  readonly type?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | TSchema;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly description?: string;
}

export function shapeOf(schema: TSchema): Shape {
  return schema;
}

export function kindOf(schema: TSchema): string | undefined {
  return shapeOf(schema).type;
}

export function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  return shapeOf(schema).properties ?? {};
}

export function requiredOf(schema: TSchema): readonly string[] {
  return shapeOf(schema).required ?? [];
}
