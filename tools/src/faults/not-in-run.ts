/** Where the test files lie that `.ci/run` leaves to `.ci/run --all`, as beginnings of their paths. */
export const notInRun: readonly string[] = ['tools/'];
