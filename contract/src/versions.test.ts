import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TSchema } from 'typebox';
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

/** The fields of the schema, of the rows of a list, and of the one list or object in an envelope. */
function fieldsIn(schema: TSchema): readonly (readonly string[])[] {
  const isEnvelope = !('id' in propertiesOf(schema));
  const parts = [schema, ...(isEnvelope ? Object.values(propertiesOf(schema)) : [])];
  const objects = parts.map((part) => Object.keys(propertiesOf(shapeOf(part).items ?? part)));
  return objects.filter((fields) => fields.includes('id'));
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
    for (const route of versioned) {
      const { id, body } = route;
      const read = versionRead(route);
      if (body === undefined || read === null) continue;
      const taken = fieldsIn(body);
      const isTaken = fieldsIn(read.success.schema ?? {}).some((returned) =>
        taken.some((fields) => returned.every((field) => fields.includes(field))),
      );
      assert.ok(isTaken, `${id} does not take back what ${read.id} returns`);
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
