/** Dear tests have a short form, which `.ci/run` runs, and a long one for `.ci/run --all`: more cases, larger sizes, tighter bounds. */
export const IS_LONG = process.env['RELAY_SYSTEM_LONG'] === '1';
