import { decidedErrors } from './decided-errors.ts';
import { decidedNames } from './decided-names.ts';
import { decidedValues } from './decided-values.ts';
import { accessStatements } from './from-access.ts';
import { bodyStatements } from './from-bodies.ts';
import { fieldStatements } from './from-fields.ts';
import { headerStatements } from './from-headers.ts';
import { routeStatements } from './from-routes.ts';
import { section1 } from './section-1.ts';
import { section2 } from './section-2.ts';
import { section3 } from './section-3.ts';
import { section4 } from './section-4.ts';
import { section5Access } from './section-5-access.ts';
import { section5People } from './section-5-people.ts';
import { section7, section7Last } from './section-7.ts';
import { section8 } from './section-8.ts';
import { section9 } from './section-9.ts';
import type { Statement } from './statement.ts';

/** What the specification leaves open, as decided; counted apart. */
export const decisions: readonly Statement[] = [...decidedNames, ...decidedValues, ...decidedErrors];

/** Every statement about the specification, those of the tables first. */
export const statements: readonly Statement[] = [
  ...routeStatements,
  ...fieldStatements,
  ...bodyStatements,
  ...accessStatements,
  ...headerStatements,
  ...section1,
  ...section2,
  ...section3,
  ...section4,
  ...section5Access,
  ...section5People,
  ...section7,
  ...section8,
  ...section9,
];

/** Nothing works after these. */
export const lastStatements: readonly Statement[] = section7Last;
