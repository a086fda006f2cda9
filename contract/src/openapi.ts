import type { TSchema } from 'typebox';
import { ErrorBody } from './error-body.ts';
import { type ErrorCode, errorCodes, errors } from './errors.ts';
import { type HeaderKey, headerDescriptions, headerKeys, headers } from './headers.ts';
import { createComponents, type Json, type JsonObject, type SchemaComponents } from './openapi-schemas.ts';
import { scopesOf } from './route-access.ts';
import { allRoutes, type Route } from './routes.ts';
import { propertiesOf, requiredOf, shapeOf } from './schema-shape.ts';
import { returnsVersion, versionRead } from './versions.ts';

/** The document's default server includes this prefix, so inference paths are listed without it. */
const versionPrefix = '/v1';

const rateHeaders: readonly HeaderKey[] = [
  'rateLimitLimitRequests',
  'rateLimitRemainingRequests',
  'rateLimitResetRequests',
  'rateLimitLimitTokens',
  'rateLimitRemainingTokens',
  'rateLimitResetTokens',
];

/** Builds the OpenAPI 3.1 document. The output is deterministic, key order included. */
export function buildOpenApi(): JsonObject {
  const components = createComponents();
  const paths: Record<string, JsonObject> = {};
  for (const route of allRoutes) {
    const path = documentPath(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  const responses = errorResponses(components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Relay',
      version: '1.0.0',
      description: 'A gateway between applications and model providers, and its management API.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      server('base_url', 'https://relay.example/v1', 'The versioned base URL for inference; ends in /v1.'),
    ],
    security: [{ UserAPIKey: [] }],
    tags: [...new Set(allRoutes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        UserAPIKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key or, in self-hosted mode, the API token or the admin token.',
        },
        BrowserSession: { type: 'apiKey', in: 'cookie', name: 'relay_session' },
      },
      schemas: components.schemas(),
      headers: headerComponents(),
      responses,
    },
  };
}

function documentPath(route: Route): string {
  return route.plane === 'inference' ? route.path.slice(versionPrefix.length) : route.path;
}

function operation(route: Route, components: SchemaComponents): JsonObject {
  const parameters = operationParameters(route, components);
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.plane === 'inference' ? {} : { servers: [originServer()] }),
    ...security(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, route.body, components) }),
    responses: { ...successResponses(route, components), ...errorsOf(route, components) },
    'x-relay-access': accessExtension(route),
    'x-relay-error-codes': [...route.errors],
  };
}

function server(variable: string, fallback: string, description: string): JsonObject {
  return { url: `{${variable}}`, variables: { [variable]: { default: fallback, description } } };
}

function originServer(): JsonObject {
  return server('api_origin', 'https://relay.example', 'The origin of management paths; no /v1 prefix.');
}

function security(route: Route): JsonObject {
  if (route.access === 'public') return { security: [] };
  return route.access === 'session_only' ? { security: [{ BrowserSession: [] }] } : {};
}

function accessExtension(route: Route): Json {
  const { access } = route;
  if (typeof access === 'string') return access;
  const need = 'scopes' in access ? 'any' : 'all';
  return { [need]: [...scopesOf(access)] };
}

function operationParameters(route: Route, components: SchemaComponents): JsonObject[] {
  return [
    ...schemaParameters('path', route.params, components),
    ...schemaParameters('query', route.query, components),
    ...headerParameters(route),
  ];
}

function schemaParameters(
  place: 'path' | 'query',
  schema: TSchema | undefined,
  components: SchemaComponents,
): JsonObject[] {
  if (schema === undefined) return [];
  const required = requiredOf(schema);
  return Object.entries(propertiesOf(schema)).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: components.convert(property),
  }));
}

function headerParameters(route: Route): JsonObject[] {
  const keys: HeaderKey[] = [];
  if (takesIdempotencyKey(route)) keys.push('idempotencyKey');
  if (versionRead(route) !== null) keys.push('ifMatch');
  return keys.map((key) => ({
    name: headers[key],
    in: 'header',
    required: false,
    description: headerDescriptions[key].meaning,
    schema: { type: headerDescriptions[key].type },
  }));
}

function requestBody(route: Route, schema: TSchema, components: SchemaComponents): JsonObject {
  return {
    required: route.bodyOptional !== true,
    content: { 'application/json': { schema: components.convert(schema) } },
  };
}

function successResponses(route: Route, components: SchemaComponents): Record<string, JsonObject> {
  const { status, schema, contentType, streams, otherStatuses } = route.success;
  const content: Record<string, JsonObject> = {};
  if (schema !== undefined)
    content[contentType ?? 'application/json'] = { schema: components.convert(schema) };
  if (streams === true) {
    content['text/event-stream'] = {
      schema: { type: 'string', description: 'Server-sent events, when the request sets `stream` to true.' },
    };
  }
  const response: JsonObject = {
    description: schema === undefined ? 'Success; no body.' : (shapeOf(schema).title ?? route.summary),
    headers: headerReferences(successHeaders(route)),
    ...(schema === undefined ? {} : { content }),
  };
  return Object.fromEntries([status, ...(otherStatuses ?? [])].map((code) => [String(code), response]));
}

function successHeaders(route: Route): HeaderKey[] {
  const keys: HeaderKey[] = ['requestId'];
  if (route.plane === 'inference' && route.method === 'POST') keys.push(...inferenceHeaders(route));
  const takesCursor = route.query !== undefined && 'cursor' in propertiesOf(route.query);
  // Lists that are always paged carry the cursor in the body instead.
  const cursorInBody =
    route.success.schema !== undefined && 'next_cursor' in propertiesOf(route.success.schema);
  if (takesCursor && !cursorInBody) keys.push('link', 'nextCursor');
  if (returnsVersion(route)) keys.push('etag');
  if (takesIdempotencyKey(route)) keys.push('idempotencyReplayed');
  return keys;
}

/** What Relay can add to the 200 of a dispatch. */
function inferenceHeaders({ path }: Pick<Route, 'path'>): HeaderKey[] {
  return headerKeys.filter((key) => {
    const { inference } = headerDescriptions[key];
    return inference !== undefined && path.includes(inference);
  });
}

function takesIdempotencyKey(route: Route): boolean {
  return route.method === 'POST' && route.errors.includes('idempotency_conflict');
}

function headerReferences(keys: readonly HeaderKey[]): JsonObject {
  return Object.fromEntries(
    keys.map((key) => [headers[key], { $ref: `#/components/headers/${headers[key]}` }]),
  );
}

function headerComponents(): JsonObject {
  const answered = headerKeys.filter((key) => headerDescriptions[key].direction !== 'request');
  return Object.fromEntries(
    answered.map((key) => {
      const { meaning, type } = headerDescriptions[key];
      return [headers[key], { description: meaning, schema: { type } }];
    }),
  );
}

function errorsOf(route: Route, components: SchemaComponents): Record<string, JsonObject> {
  const taken = new Set([route.success.status, ...(route.success.otherStatuses ?? [])]);
  const statuses = statusesOf(route.errors).filter((status) => !taken.has(status));
  const schema = components.convert(ErrorBody);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      route.errorPage === undefined
        ? { $ref: `#/components/responses/Error${status}` }
        : errorResponse(status, { ...errorPageContent, 'application/json': { schema } }),
    ]),
  );
}

/** What a browser gets on the routes that people visit with it. */
const errorPageContent = {
  'text/html': { schema: { type: 'string', description: 'A page, unless the request asks for JSON.' } },
};

function errorResponses(components: SchemaComponents): JsonObject {
  const schema = components.convert(ErrorBody);
  const entries = statusesOf(errorCodes).map((status) => [
    `Error${status}`,
    errorResponse(status, { 'application/json': { schema } }),
  ]);
  return Object.fromEntries(entries);
}

function errorResponse(status: number, content: JsonObject): JsonObject {
  const listed = errorCodes.filter((code) => errors[code].status === status).map((code) => `\`${code}\``);
  const keys: HeaderKey[] = ['requestId', 'errorSource', 'shouldRetry'];
  if (status === 429 || status === 503) keys.push('retryAfter', 'retryAfterMs');
  if (status === 429) keys.push(...rateHeaders);
  if (status === errors.version_conflict.status) keys.push('etag');
  return {
    description: `${listed.join(', ')}. On inference routes, a provider’s own ${status} may pass through unchanged.`,
    headers: headerReferences(keys),
    content,
  };
}

function statusesOf(codes: readonly ErrorCode[]): number[] {
  return [...new Set(codes.map((code) => errors[code].status))].sort((a, b) => a - b);
}
