import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createConsoleFiles } from '../http/console-files.ts';
import type { RequestHandler } from '../http/listener.ts';
import { loadConsole } from '../http/load-console.ts';

/** Where the build of the console puts its files; the package has the same folders. */
const DIRECTORY = join(import.meta.dirname, '../../../console/dist');

/** The console, served by the process that serves its interface. Without a build, its pages answer 404. */
export function withConsole(publicUrl: string, everythingElse: RequestHandler): RequestHandler {
  return createConsoleFiles(
    {
      files: loadConsole(DIRECTORY),
      newNonce: () => randomBytes(16).toString('base64url'),
      publicUrl,
    },
    everythingElse,
  );
}
