/**
 * The interface specification as data: its tables and its sentences, quoted. Tests compare the built OpenAPI document with
 * them, and a black-box suite walks a running deployment by them, so that the contract can grow but never loses what was specified.
 */
export * from './resources.ts';
export * from './routes.ts';
export * from './rules.ts';
