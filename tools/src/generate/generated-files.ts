import { apiTypes } from './api-types.ts';
import { cliPage } from './cli-page.ts';
import { configSchemaFile } from './config-schema-file.ts';
import { environmentPage } from './environment-page.ts';
import { errorFiles } from './error-pages.ts';
import type { GeneratedFile } from './generated-file.ts';
import { headersPage } from './headers-page.ts';
import { limitMetricsFile } from './limit-metrics-script.ts';
import { metricsPage } from './metrics-page.ts';
import { openApiFile } from './openapi-file.ts';
import { resourceLists } from './resource-lists.ts';
import { routeAccessTable } from './route-access-table.ts';
import { routesPage } from './routes-page.ts';
import { scopesPage } from './scopes-page.ts';

/** One line per kind of generated file; each answers the files it makes. */
const producers: readonly (() => GeneratedFile[] | Promise<GeneratedFile[]>)[] = [
  resourceLists,
  routeAccessTable,
  openApiFile,
  configSchemaFile,
  apiTypes,
  errorFiles,
  scopesPage,
  routesPage,
  headersPage,
  environmentPage,
  metricsPage,
  cliPage,
  limitMetricsFile,
];

export async function generatedFiles(): Promise<GeneratedFile[]> {
  const made = await Promise.all(producers.map((produce) => produce()));
  return made.flat();
}
