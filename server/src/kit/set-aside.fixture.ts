import type { SetAside } from './set-aside.ts';

/** For tests in which everything that is stored can be read. */
export const nothingAside: Pick<SetAside, 'note'> = {
  note(kind, about, message) {
    throw new Error(`${kind}: ${message} ${JSON.stringify(about)}`);
  },
};
