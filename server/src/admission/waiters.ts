import { entryIn } from '../kit/entry-in.ts';
import type { AdmissionAsk, Release } from './engine.ts';

/** How a wait ends: the engine decided, this process gave it up, or the limits could not be checked by its end. */
export type WaitEnd =
  | Release
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A request of this process that has a place in line. */
export interface Waiter {
  readonly ask: AdmissionAsk;
  /** When it was asked for its place; monotonic. */
  readonly askedMs: number;
  /** When its wait budget ends; monotonic. */
  readonly deadlineMs: number;
  readonly ended: Promise<WaitEnd>;
  readonly end: (how: WaitEnd) => void;
  timer: NodeJS.Timeout | null;
}

export interface Waiters {
  add(ask: AdmissionAsk, askedMs: number, deadlineMs: number): Waiter;
  get(operationId: string): Waiter | undefined;
  /** Does nothing when it does not wait. */
  with(operationId: string, act: (waiter: Waiter) => void): void;
  /** False when it no longer waits. */
  remove(waiter: Waiter): boolean;
  has(organizationId: string): boolean;
  /** In order of arrival. */
  of(organizationId: string): Waiter[];
  organizations(): string[];
  all(): Waiter[];
}

export function createWaiters(): Waiters {
  const byOperation = new Map<string, Waiter>();
  const byOrganization = new Map<string, Set<Waiter>>();

  function remove(waiter: Waiter): boolean {
    const { organizationId, operationId } = waiter.ask;
    if (byOperation.get(operationId) !== waiter) return false;
    byOperation.delete(operationId);
    const others = byOrganization.get(organizationId);
    others?.delete(waiter);
    if (others?.size === 0) byOrganization.delete(organizationId);
    if (waiter.timer !== null) clearTimeout(waiter.timer);
    waiter.timer = null;
    return true;
  }

  return {
    add(ask, askedMs, deadlineMs) {
      const before = byOperation.get(ask.operationId);
      if (before !== undefined) remove(before);
      const { promise, resolve } = Promise.withResolvers<WaitEnd>();
      const waiter: Waiter = { ask, askedMs, deadlineMs, ended: promise, end: resolve, timer: null };
      byOperation.set(ask.operationId, waiter);
      entryIn(byOrganization, ask.organizationId, () => new Set()).add(waiter);
      return waiter;
    },
    get: (operationId) => byOperation.get(operationId),
    with(operationId, act) {
      const waiter = byOperation.get(operationId);
      if (waiter !== undefined) act(waiter);
    },
    remove,
    has: (organizationId) => byOrganization.has(organizationId),
    of: (organizationId) => [...(byOrganization.get(organizationId) ?? [])],
    organizations: () => [...byOrganization.keys()],
    all: () => [...byOperation.values()],
  };
}
