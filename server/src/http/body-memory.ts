import type { ServerResponse } from 'node:http';
import { headers } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import { createShares } from '../kit/shares.ts';
import { ClientGoneError } from './client-gone-error.ts';

/** How long a client that sends a large body may wait until it is read. Its lane, and the lane's wait budget, are not known yet. */
const WAIT_MS_MAX = 10_000;
const RETRY_AFTER_SECONDS = 1;

/** The memory of large bodies, of which organizations have shares. What is reserved is held until the response is over. */
export interface BodyMemory {
  /** Waits for its turn. Rejects with 429 when that takes too long. */
  reserve(organizationId: string, bytes: number, response: ServerResponse): Promise<void>;
  /** Throws 429 when there is no room now, so that two bodies that grow do not wait for each other. */
  reserveNow(organizationId: string, bytes: number, response: ServerResponse): void;
}

export interface BodyMemoryOptions {
  readonly bytesMax: number;
  /** Whether organizations have shares; otherwise one may hold everything. */
  readonly shared: boolean;
  readonly waitMsMax?: number;
}

export function createBodyMemory({
  bytesMax,
  shared,
  waitMsMax = WAIT_MS_MAX,
}: BodyMemoryOptions): BodyMemory {
  const shares = createShares(bytesMax, shared);

  function tryReserve(organizationId: string, bytes: number, response: ServerResponse): boolean {
    const giveBack = shares.tryTake(organizationId, bytes);
    if (giveBack !== null) response.once('close', giveBack);
    return giveBack !== null;
  }

  return {
    async reserve(organizationId, bytes, response) {
      if (tryReserve(organizationId, bytes, response)) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveUp = (error: Error) => {
        leave();
        reject(error);
      };
      const timer = setTimeout(() => giveUp(noRoom()), waitMsMax);
      const gone = () => giveUp(new ClientGoneError());
      response.once('close', gone);
      const leave = shares.take(
        organizationId,
        (giveBack) => {
          response.once('close', giveBack);
          resolve();
        },
        bytes,
      );
      try {
        await promise;
      } finally {
        clearTimeout(timer);
        response.off('close', gone);
      }
    },
    reserveNow(organizationId, bytes, response) {
      if (!tryReserve(organizationId, bytes, response)) throw noRoom();
    },
  };
}

function noRoom(): RelayError {
  return new RelayError('queue_full', {
    message:
      'Large request bodies already use all the memory that this gateway has for them, or this organization’s share of it. Send fewer large requests concurrently, and retry.',
    fields: { retry_after: RETRY_AFTER_SECONDS },
    headers: {
      [headers.retryAfter]: String(RETRY_AFTER_SECONDS),
      [headers.retryAfterMs]: String(RETRY_AFTER_SECONDS * 1_000),
    },
  });
}
