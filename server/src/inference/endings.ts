import { RelayError } from '../domain/relay-error.ts';
import { ClientGoneError } from '../http/client-gone-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Exchange } from './exchange.ts';
import { sendError } from './respond/answer.ts';
import type { Ending } from './settle/settle.ts';

export interface EndingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly publicUrl: string;
}

const CLIENT_GONE: Ending = {
  state: 'cancelled',
  // Relay sent no status. 499 is the usual code for it in logs.
  status: 499,
  cause: 'client_disconnected',
  firstByteMs: null,
};

/** The end of an exchange that was stopped before anything of an answer was sent. */
export function endStopped(deps: EndingDeps, exchange: Exchange): Ending {
  const { stopped } = exchange;
  return stopped instanceof RelayError ? endWithError(deps, exchange, stopped) : CLIENT_GONE;
}

export function endWithError(deps: EndingDeps, exchange: Exchange, error: unknown): Ending {
  if (error instanceof ClientGoneError || exchange.stopped === 'client_gone') return CLIENT_GONE;
  const known = error instanceof RelayError ? error : new RelayError('internal_error', { cause: error });
  if (known.code === 'internal_error')
    deps.log.error({ err: error, request_id: exchange.requestId }, 'defect');
  sendError(deps, exchange, known);
  return {
    state: 'failed',
    status: known.status,
    cause: known.code,
    firstByteMs: deps.clock.monotonicMs(),
  };
}
