import { routeOf, specRoutes, tryRoute } from './calls.ts';
import { at, exchange } from './exchange.ts';
import { expect, expectEqual, expectStatus } from './expectation.ts';
import type { Site } from './site.ts';
import { rule, type Statement } from './statement.ts';

const description = (site: Site) =>
  site.once('description', async () => {
    const answer = await exchange(site.url, 'GET', '/openapi.json');
    expectStatus(answer, 200);
    return answer;
  });

const prefixes = specRoutes.map((route) => {
  const isInference = route.server === '{base_url}';
  const path = isInference ? route.path : `/v1${route.path}`;
  const says = isInference ? 'is not served without /v1' : 'is not served below /v1';
  return rule('9.1', `${route.line} ${says}`, async (site) => {
    const key = isInference ? site.apiKey : site.adminKey;
    const answer = await exchange(site.url, route.method, path.replaceAll(/\{\w+\}/g, 'x'), {
      key,
      ...(route.bodyFields === undefined ? {} : { body: {} }),
    });
    const isPage = (answer.headers.get('content-type') ?? '').startsWith('text/html');
    expect(answer.status === 404 || (isInference && isPage), 'status 404', answer);
  });
});

type Operations = Readonly<Record<string, unknown>>;

async function operationsOf(site: Site): Promise<readonly (readonly [string, unknown])[]> {
  const { body } = await description(site);
  const paths = at(body, 'paths') as Readonly<Record<string, Operations>>;
  return specRoutes.map((route) => [route.line, paths[route.path]?.[route.method.toLowerCase()]]);
}

const described: readonly Statement[] = [
  rule('9.2', 'the description is at version 1.0.0', async (site) => {
    expectEqual(at((await description(site)).body, 'info.version'), '1.0.0', 'info.version');
  }),
  rule('9.2', 'the description covers every route of section 4', async (site) => {
    const missing = (await operationsOf(site)).filter(([, operation]) => operation === undefined);
    expectEqual(
      missing.map(([line]) => line),
      [],
      'the routes that are not described',
    );
  }),
  rule('9.3', 'management operations override the default /v1 server in the description', async (site) => {
    const wrong = (await operationsOf(site)).filter(([line, operation]) => {
      const servers = at(operation, 'servers') as readonly { url: string }[] | undefined;
      return line.includes(' /api/') !== (servers?.[0]?.url === '{api_origin}');
    });
    expectEqual(
      wrong.map(([line]) => line),
      [],
      'the routes at another server',
    );
  }),
  rule('5.1', 'the description has the security scheme UserAPIKey, a bearer key', async (site) => {
    const { body } = await description(site);
    expectEqual(at(body, 'components.securitySchemes.UserAPIKey.scheme'), 'bearer', 'its scheme');
  }),
];

export const section9: readonly Statement[] = [
  ...prefixes,
  ...described,
  rule('1.6', 'management is served at the origin of {base_url}, without its /v1', async (site) => {
    expectStatus(await tryRoute(site, routeOf('GET /api/relay/stats/summary'), {}), 200);
  }),
];
