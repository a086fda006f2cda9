import { RelayError } from '../domain/relay-error.ts';

/** A request in progress that can be ended with an error. */
export interface Stoppable {
  stop(error: RelayError): void;
}

/** Every request below `/v1/` that is in progress in this process. */
export type OpenWork = Set<Stoppable>;

/** The time for open requests is up: each gets an answer that says to retry, instead of a broken connection. */
export function stopOpenWork(open: OpenWork): void {
  const message =
    'This server was stopped before the request was complete. Retry; another server will respond.';
  const error = new RelayError('draining', { message });
  for (const each of [...open]) each.stop(error);
}
