import { readFileSync } from 'node:fs';
import { type ErrorCode, type RouteId, routes } from '@relay/contract';

/** A JSON schema as the OpenAPI document writes it. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

/** One operation of the published document: what may be sent and what may come back. */
export interface Operation {
  readonly id: RouteId;
  readonly method: string;
  /** As it is served: inference paths with their prefix. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Null when the operation takes no body. */
  readonly body: Schema | null;
  readonly statuses: readonly number[];
  readonly codes: readonly ErrorCode[];
  /** By status: the content types of its body. */
  readonly contentTypes: Readonly<Record<number, readonly string[]>>;
}

interface DocumentedOperation {
  readonly operationId: RouteId;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
  readonly 'x-relay-error-codes': readonly ErrorCode[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const document = JSON.parse(
  readFileSync(new URL('../../../contract/openapi.json', import.meta.url), 'utf8'),
) as OpenApi;

export const operations: readonly Operation[] = Object.values(document.paths).flatMap((methods) =>
  Object.entries(methods).map(([method, operation]) => readOperation(method, operation)),
);

export function operationOf(id: RouteId): Operation {
  const found = operations.find((each) => each.id === id);
  if (found === undefined) throw new Error(`openapi.json has no operation ${id}`);
  return found;
}

/** The schema itself, where the document only names it. */
export function resolved(schema: Schema): Schema {
  const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

function readOperation(method: string, operation: DocumentedOperation): Operation {
  const answers = Object.entries(operation.responses);
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path: routes[operation.operationId].path,
    parameters: operation.parameters ?? [],
    body: operation.requestBody?.content['application/json'].schema ?? null,
    statuses: answers.map(([status]) => Number(status)),
    codes: operation['x-relay-error-codes'],
    contentTypes: Object.fromEntries(
      answers.map(([status, { content }]) => [status, Object.keys(content ?? {})]),
    ),
  };
}
