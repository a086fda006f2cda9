import { accessStatements } from './from-access.ts';
import { bodyStatements } from './from-bodies.ts';
import { fieldStatements } from './from-fields.ts';
import { headerStatements } from './from-headers.ts';
import { routeStatements } from './from-routes.ts';
import type { Statement } from './statement.ts';

/** Every statement, those of the tables first. */
export const statements: readonly Statement[] = [
  ...routeStatements,
  ...fieldStatements,
  ...bodyStatements,
  ...accessStatements,
  ...headerStatements,
];
