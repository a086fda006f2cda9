import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createConsoleFiles } from '../http/console-files.ts';
import type { RequestHandler } from '../http/listener.ts';
import { loadConsole } from '../http/load-console.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';

/** The console's build output; the published package has the same folders. */
const DIRECTORY = join(import.meta.dirname, '../../../console/dist');

/** Serves the console from the processes that serve its API. Without a build, its pages answer 404. */
export function withConsole(
  { roleName, publicUrl }: Runtime,
  everythingElse: RequestHandler,
): RequestHandler {
  if (!roles[roleName].management) return everythingElse;
  return createConsoleFiles(
    {
      files: loadConsole(DIRECTORY),
      newNonce: () => randomBytes(16).toString('base64url'),
      publicUrl,
    },
    everythingElse,
  );
}
