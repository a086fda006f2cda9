import { systemClock as clock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import type { DeskDeps } from './desk.ts';
import { createLocalCooldowns } from './local-cooldowns.ts';

const nothing = () => undefined;

/** For tests of a desk whose records, journal and ledger do not matter. */
export function deskParts(): Omit<DeskDeps, 'engine'> {
  return {
    local: createLocalCooldowns({ clock, channel: { announce: nothing, subscribe: nothing } }),
    append: nothing,
    journal: { draft: nothing, settlement: nothing },
    openings: async () => [],
    clock,
    log: createLog('silent'),
  };
}
