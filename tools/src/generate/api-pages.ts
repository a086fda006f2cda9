import { buildOpenApi } from '@relay/contract';
import { type ApiSchema, apiTypeHeading, fieldNotes, refName, typeText } from './api-schema-text.ts';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: ApiSchema }>>;
}

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** There for management routes; inference is below the document's own server, whose address ends in `/v1`. */
  readonly servers?: unknown;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
  readonly 'x-relay-access'?: unknown;
  readonly 'x-relay-error-codes'?: readonly string[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: ApiSchema;
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

type Schemas = Readonly<Record<string, ApiSchema>>;

const FOLDER = 'docs/reference/api';

/** One page for each tag of the OpenAPI document: its routes, and every object that they take or return. */
export function apiPages(): GeneratedFile[] {
  const document = JSON.parse(JSON.stringify(buildOpenApi())) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: { readonly schemas: Schemas };
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: operation.servers === undefined ? `/v1${path}` : path,
      operation,
    })),
  );
  const byTag = Map.groupBy(routes, ({ operation }) => operation.tags[0] ?? 'Other');
  const pages = [...byTag].map(([tag, own]) => tagPage(tag, own, document.components.schemas));
  return [overview(byTag), ...pages];
}

function overview(byTag: ReadonlyMap<string, readonly Route[]>): GeneratedFile {
  const rows = [...byTag].map(([tag, routes]) => [
    `[${tag}](${slug(tag)}.md)`,
    String(routes.length),
    routes.map(({ operation }) => operation.summary).join(' · '),
  ]);
  const body = `# API reference

Inference is under \`/v1\`, management under \`/api\`. Send a key or token as \`Authorization: Bearer …\`. These pages are generated
from \`contract/openapi.json\`. [Routes](../routes.md) lists all routes on one page, and [errors](../errors/README.md) lists every error code.

${markdownTable(['Part', 'Routes', 'What they do'], rows)}`;
  return generatedPage(`${FOLDER}/README.md`, body);
}

function tagPage(tag: string, routes: readonly Route[], schemas: Schemas): GeneratedFile {
  const used = new Set<string>();
  for (const { operation } of routes)
    for (const { content } of [
      operation.requestBody ?? {},
      ...ownResponses(operation).map(([, each]) => each),
    ])
      for (const { schema } of Object.values(content ?? {})) collect(schema, schemas, used);
  const everywhere = commonErrors(routes);
  const types = [...used].sort().map((name) => typeSection(name, schemas[name] ?? {}));
  const body = [
    `# ${tag === 'Inference' ? 'Inference API' : `${tag} API`}`,
    errorLine('Every route on this page can return', everywhere),
    ...routes.map((route) => routeSection(route, everywhere)),
    ...(types.length === 0 ? [] : ['## Objects', ...types]),
  ];
  return generatedPage(`${FOLDER}/${slug(tag)}.md`, joined(body));
}

/** The codes of all routes of a page, which are listed once. */
function commonErrors(routes: readonly Route[]): readonly string[] {
  const lists = routes.map(({ operation }) => new Set(operation['x-relay-error-codes'] ?? []));
  return routes.length < 2
    ? []
    : [...(lists[0] ?? [])].filter((code) => lists.every((list) => list.has(code)));
}

/** Adds the names of all objects that a value is made of. */
function collect(schema: ApiSchema, schemas: Schemas, used: Set<string>): void {
  const name = refName(schema);
  if (name !== null) {
    if (used.has(name)) return;
    used.add(name);
    collect(schemas[name] ?? {}, schemas, used);
    return;
  }
  const parts = [
    ...(schema.anyOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.patternProperties ?? {}),
  ];
  for (const part of parts) collect(part, schemas, used);
}

function routeSection({ method, path, operation }: Route, everywhere: readonly string[]): string {
  const codes = operation['x-relay-error-codes'] ?? [];
  return joined([
    `## ${operation.summary}`,
    `\`\`\`http\n${method} ${path}\n\`\`\``,
    ...(operation.description === undefined ? [] : [operation.description]),
    accessText(operation['x-relay-access']),
    ...parameterTable(operation.parameters ?? []),
    ...contentLine('Request body', operation.requestBody),
    ...ownResponses(operation).flatMap(([status, response]) => contentLine(`Response ${status}`, response)),
    errorLine(
      'Errors',
      codes.filter((code) => !everywhere.includes(code)),
    ),
  ]);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Errors are references to shared responses; what an operation returns itself is not, such as 503 of `/readyz`. */
function ownResponses({ responses }: Operation): (readonly [string, Content])[] {
  return Object.entries(responses).filter(([, response]) => !('$ref' in response));
}

const ACCESS_WORDS: Readonly<Record<string, string>> = {
  any_key: 'any valid key',
  session_only: 'browser session',
};

function accessText(access: unknown): string {
  if (typeof access === 'string') return `Access: ${ACCESS_WORDS[access] ?? access}.`;
  if (access === null || typeof access !== 'object') return '';
  const [kind, scopes] = Object.entries(access)[0] ?? ['', []];
  const names = (Array.isArray(scopes) ? scopes : [scopes]).map((scope) => `\`${String(scope)}\``);
  return `Access: ${names.join(kind === 'any' ? ' or ' : ' and ')} ([scopes](../scopes.md)).`;
}

function parameterTable(parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    `\`${name}\``,
    required === true ? `${place}, required` : place,
    typeText(schema),
    fieldNotes({ ...(description === undefined ? {} : { description }), ...schema }),
  ]);
  return [markdownTable(['Parameter', 'In', 'Type', 'Meaning'], rows)];
}

function contentLine(title: string, content: Content | undefined): string[] {
  const media = Object.entries(content?.content ?? {});
  if (content === undefined) return [];
  if (media.length === 0) return [`**${title}**: no body.`];
  return media.map(([type, { schema }]) => `**${title}** (\`${type}\`): ${typeText(schema)}`);
}

function errorLine(title: string, codes: readonly string[]): string {
  if (codes.length === 0) return '';
  return `**${title}**: ${codes.map((code) => `[${code}](../errors/${code}.md)`).join(', ')}`;
}

function typeSection(name: string, schema: ApiSchema): string {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([field, value]) => [
    required.has(field) ? `\`${field}\`` : `\`${field}\` (optional)`,
    typeText(value),
    fieldNotes(value),
  ]);
  const notes = fieldNotes(schema);
  const fields = rows.length === 0 ? typeText(schema) : markdownTable(['Field', 'Type', 'Meaning'], rows);
  return joined([apiTypeHeading(name), notes, fields]);
}

function slug(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-');
}
