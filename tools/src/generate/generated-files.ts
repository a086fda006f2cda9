import { buildOpenApi, configSchemaText } from '@relay/contract';
import { limitMetricsScript } from '@relay/server';
import { apiPages } from './api-pages.ts';
import { apiTypes } from './api-types.ts';
import { cliPage } from './cli-page.ts';
import { environmentPage } from './environment-page.ts';
import { errorFiles } from './error-pages.ts';
import type { GeneratedFile } from './generated-file.ts';
import { headersPage } from './headers-page.ts';
import { metricsPage } from './metrics-page.ts';
import { providersPage } from './providers-page.ts';
import { resourceLists } from './resource-lists.ts';
import { routeAccessTable } from './route-access-table.ts';
import { routesPage } from './routes-page.ts';
import { scopesPage } from './scopes-page.ts';

/** One entry for each kind of generated file. */
const producers: readonly (() => GeneratedFile[] | Promise<GeneratedFile[]>)[] = [
  resourceLists,
  routeAccessTable,
  openApiFile,
  configSchemaFile,
  apiPages,
  apiTypes,
  errorFiles,
  scopesPage,
  routesPage,
  headersPage,
  environmentPage,
  metricsPage,
  providersPage,
  cliPage,
  limitMetricsFile,
];

export async function generatedFiles(): Promise<GeneratedFile[]> {
  const made = await Promise.all(producers.map((produce) => produce()));
  return made.flat();
}

function openApiFile(): GeneratedFile[] {
  return [{ path: 'contract/openapi.json', content: `${JSON.stringify(buildOpenApi(), null, 2)}\n` }];
}

/** The schema with which editors complete and check `relay.yaml`. */
function configSchemaFile(): GeneratedFile[] {
  return [{ path: 'contract/relay.schema.json', content: configSchemaText() }];
}

/** The table of limit metrics for the Redis scripts. */
function limitMetricsFile(): GeneratedFile[] {
  return [{ path: 'server/src/admission/redis/script/metrics.lua', content: limitMetricsScript() }];
}
