/** Test files that cannot share a process with others, and why. */
export const ownProcess: Readonly<Record<string, string>> = {};
