import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildOpenApi } from './openapi.ts';
import { routeAccess } from './route-access-table.ts';
import { allScopes } from './scopes.ts';
import {
  type SpecAnswer,
  type SpecRoute,
  type SpecType,
  specErrorStatuses,
  specHeaders,
  specInferenceRoutes,
  specManagementRoutes,
  specResources,
  specScopes,
  specStreamingPaths,
  specValuesOf,
} from './specification/index.ts';

/** Walks JSON and asserts every step; a missing one fails with its path. */
interface Node {
  readonly path: string;
  readonly value: unknown;
}

const root: Node = { path: '#', value: buildOpenApi() };

function at(node: Node, ...keys: string[]): Node {
  let current = resolve(node);
  for (const key of keys) {
    const { value, path } = current;
    assert.ok(typeof value === 'object' && value !== null && key in value, `${path} has no ${key}`);
    current = resolve({ path: `${path}/${key}`, value: (value as Record<string, unknown>)[key] });
  }
  return current;
}

function resolve(node: Node): Node {
  const { value } = node;
  if (typeof value !== 'object' || value === null || !('$ref' in value)) return node;
  const keys = String(value.$ref).split('/').slice(1);
  return at(root, ...keys);
}

function keysOf(node: Node): string[] {
  return Object.keys(node.value as object);
}

function operationOf(route: SpecRoute): Node {
  return at(root, 'paths', route.path, route.method.toLowerCase());
}

function component(name: string): Node {
  return at(root, 'components', 'schemas', name);
}

const specRoutes = [...specInferenceRoutes, ...specManagementRoutes];

describe('every route of the specification is in the OpenAPI document', () => {
  for (const route of specRoutes) {
    const line = `${route.method} ${route.path}`;

    it(`${line} answers ${route.status} on ${route.server}`, () => {
      const operation = operationOf(route);
      const success = keysOf(at(operation, 'responses')).filter((status) => status.startsWith('2'));
      assert.deepEqual(success, [String(route.status)]);
      const servers = (operation.value as { servers?: { url: string }[] }).servers;
      const expected = route.server === '{base_url}' ? undefined : ['{api_origin}'];
      assert.deepEqual(
        servers?.map((server) => server.url),
        expected,
      );
    });

    it(`${line} takes the specified body, parameters and answers the specified body`, () => {
      const operation = operationOf(route);
      checkBody(operation, route);
      checkParameters(operation, route);
      checkAnswer(at(operation, 'responses', String(route.status)), route.answer);
    });

    it(`${line} lists the specified error statuses`, () => {
      const statuses = keysOf(at(operationOf(route), 'responses')).map(Number);
      for (const status of expectedErrors(route))
        assert.ok(statuses.includes(status), `${status} is missing`);
    });
  }
});

function checkBody(operation: Node, route: SpecRoute): void {
  const hasBody = 'requestBody' in (operation.value as object);
  assert.equal(hasBody, route.bodyFields !== undefined, 'presence of a request body');
  if (route.bodyFields === undefined) return;
  assert.equal(at(operation, 'requestBody', 'required').value, true);
  const schema = at(operation, 'requestBody', 'content', 'application/json', 'schema');
  for (const field of [...route.bodyFields, ...(route.optionalBodyFields ?? [])])
    at(schema, 'properties', field);
  const required = (schema.value as { required?: string[] }).required ?? [];
  const specified = new Set(route.bodyFields);
  for (const field of required) assert.ok(specified.has(field), `${field} is required but not specified`);
  if (route.server === '{base_url}') assert.deepEqual(new Set(required), specified);
}

function checkParameters(operation: Node, route: SpecRoute): void {
  const listed = ((operation.value as { parameters?: unknown[] }).parameters ?? []) as {
    name: string;
    in: string;
    required: boolean;
  }[];
  const required = (place: string) => listed.filter((p) => p.in === place && p.required).map((p) => p.name);
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  assert.deepEqual(required('path'), inPath);
  assert.deepEqual(required('query'), route.queryParameters ?? []);
}

function checkAnswer(response: Node, answer: SpecAnswer): void {
  if ('none' in answer) {
    assert.equal('content' in (response.value as object), false, 'a body where none is specified');
    return;
  }
  const schema = at(response, 'content', 'application/json', 'schema');
  if ('fields' in answer) for (const field of answer.fields) at(schema, 'properties', field);
  // An answer may have more fields than the object.
  if ('object' in answer)
    for (const field of keysOf(at(component(answer.object), 'properties'))) at(schema, 'properties', field);
  if ('arrayOf' in answer) {
    assert.equal(at(schema, 'type').value, 'array');
    assert.equal(at(schema, 'items').path, component(answer.arrayOf).path);
  }
}

function expectedErrors(route: SpecRoute): readonly number[] {
  if (route.path === '/models') return specErrorStatuses.models;
  if (route.server === '{base_url}') return specErrorStatuses.inference;
  const withId = route.path.includes('{') || route.queryParameters !== undefined;
  const { management, managementWithId } = specErrorStatuses;
  return withId ? [...management, ...managementWithId] : management;
}

describe('every field of the specification is in the OpenAPI document', () => {
  for (const [name, { fields }] of Object.entries(specResources)) {
    it(`${name} has its fields with their types, all required`, () => {
      for (const [path, { type }] of Object.entries(fields)) {
        const steps = path.split('.');
        const parent = at(component(name), ...steps.slice(0, -1).flatMap((step) => ['properties', step]));
        const field = steps.at(-1) ?? '';
        assert.ok(fits(type, typeOf(at(parent, 'properties', field))), `${name}.${path}`);
        const { required } = parent.value as { required: string[] };
        assert.ok(required.includes(field), `${name}.${path} is not always present`);
      }
    });

    for (const [path, field] of Object.entries(fields)) {
      const values = specValuesOf(field);
      const steps = path.split('.').flatMap((step) => ['properties', step]);
      const schema = () => at(component(name), ...steps).value as { enum?: string[] };
      // A field without a closed list takes any string.
      if (values.length === 0 || schema().enum === undefined) continue;
      it(`${name}.${path} allows ${values.join(', ')}`, () => {
        for (const value of values) assert.ok(schema().enum?.includes(value), value);
      });
    }
  }
});

/** Whether a type of the OpenAPI document is the specification's. */
function fits(specified: SpecType, built: string): boolean {
  if (specified === 'string (URL)') return built === 'string';
  if (specified === 'timestamp or null') return built === 'timestamp?';
  if (specified === 'array of string') return built === 'string[]';
  if (specified === 'array') return built.endsWith('[]');
  if (specified === 'object') return /^[A-Z]/.test(built);
  return built === specified;
}

function typeOf(node: Node): string {
  const schema = node.value as {
    type?: string;
    items?: unknown;
    anyOf?: { type: string; format?: string }[];
  };
  const componentName = node.path.match(/^#\/components\/schemas\/(\w+)$/)?.[1];
  if (componentName !== undefined) return componentName;
  if (schema.type === 'array') return `${typeOf(at(node, 'items'))}[]`;
  if (schema.anyOf !== undefined) {
    assert.deepEqual(schema.anyOf.map((branch) => branch.type).sort(), ['null', 'string']);
    assert.equal(schema.anyOf.find((branch) => branch.type === 'string')?.format, 'date-time');
    return 'timestamp?';
  }
  return schema.type ?? 'unknown';
}

describe('the three inference POST operations', () => {
  const posts = specInferenceRoutes.filter((route) => route.method === 'POST');

  for (const route of posts) {
    it(`${route.path} lists every X-Relay header with its type on 200`, () => {
      const response = at(operationOf(route), 'responses', '200');
      for (const [name, { type }] of Object.entries(specHeaders)) {
        assert.equal(at(response, 'headers', name, 'schema', 'type').value, type, name);
      }
    });

    it(`${route.path} ${specStreamingPaths.includes(route.path) ? 'may' : 'never'} answers an event stream`, () => {
      const content = at(operationOf(route), 'responses', '200', 'content');
      const streams = keysOf(content).includes('text/event-stream');
      assert.equal(streams, specStreamingPaths.includes(route.path));
    });
  }

  it('carry Retry-After on 429', () => {
    at(root, 'components', 'responses', 'Error429', 'headers', 'Retry-After');
  });
});

describe('the document', () => {
  it('names every field of the management interface in snake case', () => {
    const schemas = at(root, 'components', 'schemas').value as Record<string, { properties?: object }>;
    const fields = Object.values(schemas).flatMap(({ properties = {} }) => Object.keys(properties));
    assert.deepEqual(
      fields.filter((field) => !/^[a-z][a-z0-9_]*$/.test(field)),
      [],
    );
  });
});

describe('authentication and versioning', () => {
  it('the document is 3.1, version 1.0.0, with the UserAPIKey bearer scheme by default', () => {
    assert.match(String(at(root, 'openapi').value), /^3\.1\./);
    assert.equal(at(root, 'info', 'version').value, '1.0.0');
    assert.deepEqual(at(root, 'security').value, [{ UserAPIKey: [] }]);
    assert.equal(at(root, 'components', 'securitySchemes', 'UserAPIKey', 'scheme').value, 'bearer');
  });

  it('the default server ends in /v1', () => {
    const [server] = at(root, 'servers').value as {
      url: string;
      variables: { base_url: { default: string } };
    }[];
    assert.equal(server?.url, '{base_url}');
    assert.match(server?.variables.base_url.default ?? '', /\/v1$/);
  });

  it('every specified operation needs the key', () => {
    for (const route of specRoutes) {
      assert.equal(
        'security' in (operationOf(route).value as object),
        false,
        `${route.method} ${route.path}`,
      );
    }
  });

  it('every scope the specification names exists, and guards what it says', () => {
    for (const scope of specScopes) assert.ok((allScopes as readonly string[]).includes(scope), scope);
    for (const id of ['createChatCompletion', 'createResponse', 'createEmbeddings', 'listModels'] as const) {
      assert.deepEqual(routeAccess[id], { scope: 'relay:request' });
    }
    assert.deepEqual(routeAccess.listLimitPolicies, { scope: 'relay:limits:read:organization' });
    assert.deepEqual(routeAccess.createLimitPolicy, { scope: 'relay:limits:manage' });
    assert.deepEqual(routeAccess.createApiKey, { scope: 'cloud:account:manage' });
  });
});
