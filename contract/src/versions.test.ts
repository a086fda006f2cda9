import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildOpenApi } from './openapi.ts';
import { allRoutes, type Route } from './routes.ts';
import { propertiesOf, shapeOf } from './schema-shape.ts';
import { listsVersions, returnsVersion, versionRead } from './versions.ts';

const versioned = allRoutes.filter((route) => versionRead(route) !== null);

interface Documented {
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>;
}

const { paths } = buildOpenApi() as unknown as { paths: Record<string, Record<string, Documented>> };

function documented({ path, method, success }: Route): { takes: boolean; returns: boolean } {
  const found = paths[path]?.[method.toLowerCase()];
  const takes = found?.parameters?.some(({ name }) => name === 'If-Match') === true;
  return { takes, returns: 'ETag' in (found?.responses[success.status]?.headers ?? {}) };
}

/** The fields of one resource, as the read returns it: alone, in a list, or in the list under the one key of an object. */
function resourceIn(read: Route): readonly string[] {
  const { schema = {} } = read.success;
  if (!listsVersions(read)) return Object.keys(propertiesOf(schema));
  const lists = [schema, ...Object.values(propertiesOf(schema))].map(shapeOf);
  return Object.keys(propertiesOf(lists.find(({ items }) => items !== undefined)?.items ?? {}));
}

describe('a route with If-Match', () => {
  it('has a read that returns the version, as ETag or in each row, and both are documented', () => {
    assert.ok(versioned.length >= 37, `${versioned.length} routes`);
    for (const route of versioned) {
      const read = versionRead(route);
      assert.ok(read !== null && (returnsVersion(read) || listsVersions(read)), route.id);
      assert.ok(documented(route).takes, `${route.id} does not document If-Match`);
      if (!listsVersions(read)) assert.ok(documented(read).returns, `${read.id} does not document ETag`);
      if (route.method !== 'DELETE') assert.ok(documented(route).returns, `${route.id} returns no ETag`);
    }
  });

  it('has a body that takes back what the read returned', () => {
    const bindings = ['replaceGuardrailBindings'];
    for (const route of versioned) {
      const { id, body } = route;
      const read = versionRead(route);
      if (body === undefined || read === null || bindings.includes(id)) continue;
      const taken = propertiesOf(body);
      // A guardrail and its bindings are changed by two routes, each by its own part of what is read.
      const fields = id === 'updateGuardrail' ? ['id', 'binding_count'] : resourceIn(read);
      for (const field of fields) assert.ok(field in taken, `${id} does not take ${field}`);
    }
  });

  it('is every change and deletion of a resource, except what people do to their own sign-in', () => {
    const unversioned = allRoutes.filter(
      (route) => /PUT|PATCH|DELETE/.test(route.method) && versionRead(route) === null,
    );
    assert.deepEqual(
      unversioned.filter(({ tag }) => tag !== 'Session').map(({ id }) => id),
      [],
    );
    const upserts = allRoutes.filter(({ id }) => id.startsWith('upsert'));
    assert.deepEqual(
      upserts.filter((route) => versionRead(route) === null),
      [],
    );
  });

  it('is no write that takes a plan instead of a version', () => {
    for (const id of ['applyConfig', 'applyPrices']) {
      const route = allRoutes.find((each) => each.id === id);
      assert.equal(route && versionRead(route), null, id);
    }
  });
});
