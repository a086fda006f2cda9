import { environmentPage } from './environment-page.ts';
import { errorFiles } from './error-pages.ts';
import type { GeneratedFile } from './generated-file.ts';
import { headersPage } from './headers-page.ts';
import { metricsPage } from './metrics-page.ts';
import { openApiFile } from './openapi-file.ts';
import { routesPage } from './routes-page.ts';
import { scopesPage } from './scopes-page.ts';

/** One line per kind of generated file; each answers the files it makes. */
const producers: readonly (() => GeneratedFile[])[] = [
  openApiFile,
  errorFiles,
  scopesPage,
  routesPage,
  headersPage,
  environmentPage,
  metricsPage,
];

/** Folders that hold generated files only: what nothing generates does not belong there. */
export const generatedFolders: readonly string[] = ['docs/reference'];

export function generatedFiles(): GeneratedFile[] {
  return producers.flatMap((produce) => produce());
}
