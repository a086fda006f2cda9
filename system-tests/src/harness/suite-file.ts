import { join } from 'node:path';

/** A suite's file lies in the suite's own folder. */
export function suiteFile(name: string): string {
  return join(import.meta.dirname, '..', name, `${name}.suite.ts`);
}
