import { nullable, optional, Timestamp } from './schema.ts';

/** Of every response with statistics. */
export const completeUntil = {
  complete_until: optional(
    nullable(Timestamp, {
      description:
        'The ledger has all requests that ended before this time; later ones may be missing. Null while that is not known. Normally a few seconds ago; older while no worker runs, or while a store fails.',
    }),
  ),
};
