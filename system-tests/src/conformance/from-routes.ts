import type { SpecRoute } from '@relay/contract/specification';
import { bodyOf, servedIn, specRoutes, success } from './calls.ts';
import { at } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import { objects } from './objects.ts';
import type { Statement } from './statement.ts';

// Section 4: every route with its success status and the body of its answer.

export const routeStatements: readonly Statement[] = specRoutes.flatMap((route) => [
  statusStatement(route),
  ...shapeStatements(route),
  ...echoStatements(route),
]);

function about(route: SpecRoute, says: string, check: Statement['check']): Statement {
  const { section, line, quote } = route;
  return { id: section, says: `${line} ${says}`, quote, appliesIn: servedIn(route), check };
}

function statusStatement(route: SpecRoute): Statement {
  return about(route, `answers ${route.status}`, async (site) => {
    expectStatus(await success(site, route), route.status);
  });
}

function shapeStatements(route: SpecRoute): readonly Statement[] {
  const { answer } = route;
  if ('none' in answer) {
    return [
      about(route, 'answers without a body', async (site) => {
        const came = await success(site, route);
        expect(came.text === '' && came.headers.get('content-type') === null, 'no body', came);
      }),
    ];
  }
  const json = about(route, 'answers application/json', async (site) => {
    const came = await success(site, route);
    const type = came.headers.get('content-type') ?? '';
    expect(type.startsWith('application/json') && came.body !== undefined, 'JSON, and the type for it', came);
  });
  if ('arrayOf' in answer) {
    const bare = about(route, `answers an array of ${answer.arrayOf}`, async (site) => {
      const came = await success(site, route);
      expect(Array.isArray(came.body) && came.body.length > 0, 'an array, which is not empty', came);
    });
    return [json, bare];
  }
  if ('object' in answer) return [json];
  return [json, ...answer.fields.map((field) => envelopeStatement(route, field))];
}

function envelopeStatement(route: SpecRoute, field: string): Statement {
  if (field === 'ok') {
    return about(route, 'answers {ok: true}', async (site) => {
      const came = await success(site, route);
      expectEqual(came.body, { ok: true }, 'the body');
    });
  }
  const isList = ['api_keys', 'scopes', 'bindings', 'policies', 'data'].includes(field);
  const what = isList ? 'a list' : 'a value';
  return about(route, `answers \`${field}\`, ${what}`, async (site) => {
    const came = await success(site, route);
    const value = at(came.body, field);
    expect(
      isList ? Array.isArray(value) : value !== undefined && value !== null,
      `${field} as ${what}`,
      came,
    );
  });
}

/** A resource that was written shows what was sent. */
function echoStatements(route: SpecRoute): readonly Statement[] {
  const { answer, bodyFields = [] } = route;
  const pick = 'object' in answer ? '' : ({ user: 'user.', api_key: 'key.' }[fieldOf(answer)] ?? null);
  if (route.method === 'GET' || pick === null) return [];
  return bodyFields
    .filter((field) => field !== 'scopes')
    .map((field) =>
      about(route, `answers \`${field}\` as it was sent`, async (site) => {
        const came = await success(site, route);
        const { ids } = await objects(site, 'kept');
        const sent = at(bodyOf(site, route, ids, 'kept'), field);
        expectEqual(at(came.body, pick + field), sent, `${field} of ${came.text.slice(0, 300)}`);
      }),
    );
}

function fieldOf(answer: SpecRoute['answer']): string {
  return 'fields' in answer ? (answer.fields[0] ?? '') : '';
}
