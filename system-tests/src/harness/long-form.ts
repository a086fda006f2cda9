/** Suites have a short form, which CI runs, and a long one: more cases, larger sizes, tighter bounds. */
export const IS_LONG = process.env['RELAY_SYSTEM_LONG'] === '1';
