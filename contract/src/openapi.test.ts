import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { headerDescriptions, headerKeys, headers } from './headers.ts';
import { buildOpenApi } from './openapi.ts';
import { createComponents } from './openapi-schemas.ts';
import { allRoutes } from './routes.ts';

const document = buildOpenApi();
const plain = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;

function* walk(value: unknown): Generator<Record<string, unknown>> {
  if (Array.isArray(value)) {
    for (const item of value) yield* walk(item);
  } else if (typeof value === 'object' && value !== null) {
    yield value as Record<string, unknown>;
    for (const item of Object.values(value)) yield* walk(item);
  }
}

function lookup(reference: string): unknown {
  const keys = reference.split('/').slice(1);
  return keys.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], plain);
}

describe('the OpenAPI document', () => {
  it('resolves every reference', () => {
    const references = [...walk(plain)].map((node) => node['$ref']).filter((ref) => typeof ref === 'string');
    assert.ok(references.length > 500, `only ${references.length} references were seen`);
    for (const reference of references) assert.notEqual(lookup(reference), undefined, reference);
  });

  it('refers to every component at least once', () => {
    const used = new Set([...walk(plain)].map((node) => node['$ref']));
    const { schemas, responses } = plain['components'] as Record<string, Record<string, unknown>>;
    for (const name of Object.keys(schemas ?? {})) assert.ok(used.has(`#/components/schemas/${name}`), name);
    for (const name of Object.keys(responses ?? {})) {
      // Statuses that only the router answers belong to no operation.
      if (name === 'Error405' || name === 'Error426') continue;
      assert.ok(used.has(`#/components/responses/${name}`), name);
    }
  });

  it('has one operation per route, with unique ids', () => {
    const paths = Object.values(plain['paths'] as Record<string, Record<string, { operationId: string }>>);
    const ids = paths.flatMap((path) => Object.values(path).map((operation) => operation.operationId));
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(ids.toSorted(), allRoutes.map((route) => route.id).toSorted());
  });

  it('declares every path parameter of every path, and no other', () => {
    for (const route of allRoutes) {
      const named = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = Object.keys((route.params as { properties?: object } | undefined)?.properties ?? {});
      assert.deepEqual(declared, named, route.id);
    }
  });

  it('has 400 wherever a path has a parameter, whose escapes may be broken', () => {
    for (const { id, params, errors } of allRoutes)
      if (params !== undefined) assert.ok(errors.includes('invalid_request'), id);
  });

  it('is plain JSON without TypeBox marks, and the same on every build', () => {
    assert.deepEqual(document, plain);
    assert.ok([...walk(plain)].every((node) => Object.keys(node).every((key) => !key.startsWith('~'))));
    assert.equal(JSON.stringify(buildOpenApi()), JSON.stringify(document));
  });

  it('gives list routes limit and cursor, and their headers', () => {
    const paths = plain['paths'] as Record<string, { get: { parameters: { name: string }[] } }>;
    const list = paths['/api/relay/providers'];
    assert.deepEqual(
      list?.get.parameters.map((parameter) => parameter.name),
      ['limit', 'cursor'],
    );
    assert.ok(JSON.stringify(list).includes('#/components/headers/X-Next-Cursor'));
  });

  it('gives inference routes every header that the list of headers says is theirs', () => {
    const paths = plain['paths'] as Record<string, { post: { responses: { 200: { headers: object } } } }>;
    const namesOf = (path: string) => Object.keys(paths[path]?.post.responses[200].headers ?? {});
    const chat = namesOf('/chat/completions');
    for (const name of [headers.leftOut, headers.translatedTo, headers.outputCap, headers.overheadMs])
      assert.ok(chat.includes(name), name);
    assert.ok(!chat.includes(headers.anthropicRequestId) && !chat.includes(headers.estimated));
    assert.ok(namesOf('/messages').includes(headers.anthropicRequestId));
    assert.ok(namesOf('/messages/count_tokens').includes(headers.estimated));
    // What a 200 of inference cannot carry.
    const others = headerKeys.filter(
      (key) =>
        headerDescriptions[key].inference === undefined && headerDescriptions[key].direction !== 'request',
    );
    assert.deepEqual(others.toSorted(), [
      'etag',
      'idempotencyReplayed',
      'link',
      'nextCursor',
      'requestId',
      'retryAfter',
      'retryAfterMs',
      'shouldRetry',
      'wwwAuthenticate',
    ]);
  });

  it('says that errors are pages on routes that people visit, and JSON everywhere', () => {
    type Answers = Record<string, { readonly content?: object; readonly $ref?: string }>;
    const paths = plain['paths'] as Record<string, Record<string, { responses: Answers }>>;
    for (const { id, errorPage, path, method, success } of allRoutes.filter(
      ({ plane }) => plane === 'management',
    )) {
      const { responses } = paths[path]?.[method.toLowerCase()] ?? { responses: {} };
      for (const [status, answer] of Object.entries(responses)) {
        if (Number(status) === success.status || Number(status) < 400) continue;
        const { content = {} } = (
          answer.$ref === undefined ? answer : lookup(answer.$ref)
        ) as Answers[string];
        const types = errorPage === undefined ? ['application/json'] : ['text/html', 'application/json'];
        assert.deepEqual(Object.keys(content), types, `${id} ${status}`);
      }
    }
  });

  it('keeps management bodies closed and inference bodies open', () => {
    const { schemas } = plain['components'] as { schemas: Record<string, { additionalProperties: unknown }> };
    for (const name of ['ProviderCreate', 'LaneUpdate', 'GuardrailCreate', 'ApiKeyCreate']) {
      assert.equal(schemas[name]?.additionalProperties, false, name);
    }
    for (const name of ['ChatCompletionRequest', 'ResponseRequest', 'EmbeddingsRequest']) {
      assert.equal(schemas[name]?.additionalProperties, true, name);
    }
  });

  it('refuses two different schemas with one title', () => {
    const components = createComponents();
    components.convert(Type.Object({ a: Type.String() }, { title: 'Same' }));
    assert.throws(
      () => components.convert(Type.Object({ b: Type.String() }, { title: 'Same' })),
      /titled Same/,
    );
  });
});
