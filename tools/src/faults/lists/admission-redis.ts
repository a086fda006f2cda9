import { faultsIn } from '../fault.ts';

/** The engine in Redis. */
export const admissionScriptFaults = faultsIn('server/src/admission/redis', [
  {
    name: 'one operation is in a call twice',
    file: 'batches.ts',
    find: 'if (isFull || this.#seen.has(operationId)) return false;',
    replace: 'if (isFull) return false;',
    why: 'a request is settled before it is let in',
  },
  {
    name: 'a store that is set back stays ahead',
    file: 'store-clock.ts',
    find: 'const isSetBack = aheadMs !== null && ahead + tookMs + 1 < aheadMs;',
    replace: 'const isSetBack = false;',
    why: 'every release looks late for a minute, and is asked for again',
  },
  {
    name: 'a state that was refused is believed when others have written enough to it',
    file: 'epochs.ts',
    find: '(state.isDoubted || found.sequence < state.sequence)',
    replace: 'found.sequence < state.sequence',
    why: 'what a gateway settled in the lost part has no row',
  },
  {
    name: 'an older state of the same epoch is believed',
    file: 'script/heads.lua',
    find: 'if stored == epoch and SEQUENCE >= seen then return end',
    replace: 'if stored == epoch then return end',
    why: 'after a failover to a replica that is behind limits are exceeded and rows lost',
    tests: ['lost-state.db.test.ts'],
  },
  {
    name: 'moments jump when the clock of the store goes back',
    file: 'script/heads.lua',
    find: "NOW = max(before, server + (#text >= 24 and struct_unpack('>d', text, 17) or 0))",
    replace: 'NOW = max(before, server)',
    why: 'windows freeze for as long as the clock was ahead',
    tests: ['/server/src/admission/histories/clock-steps.db.test.ts'],
  },
  {
    name: 'what was not used is given back now, in Redis',
    file: 'script/leases.lua',
    find: 'spend(window, at, difference)',
    replace: 'spend(window, NOW, difference)',
    why: 'the minute in which a request was charged stays too full',
    tests: ['/server/src/admission/histories/compare-engines.db.test.ts'],
  },
  {
    name: 'a lease that cannot be read is dropped',
    file: 'script/sweep.lua',
    find: '    if unreadable[op] then set_aside(op, unreadable[op]) end\n',
    replace: '',
    why: 'usage is lost, and no metric tells',
    tests: ['/server/src/admission/bad-entries.db.test.ts'],
  },
  {
    name: 'leases of the previous format are dropped',
    file: 'script/sweep.lua',
    find: '    if not lease then expire_first_format(op) end\n',
    replace: '',
    why: 'an upgrade loses the requests of killed gateways',
    tests: ['/server/src/admission/first-format.db.test.ts'],
  },
  {
    name: 'the first epoch of a shard believes that nothing was used',
    file: 'script/begin.lua',
    find: "if ARGV[3] == 'adopt' then return start_epoch(0) end",
    replace:
      "if ARGV[3] == 'adopt' then call('SET', PREFIX .. 'epoch', ARGV[2]) return { wanted, SEQUENCE, 0 } end",
    why: 'after an upgrade a minute lets twice its limit through',
    tests: ['lost-state.db.test.ts'],
  },
  {
    name: 'earlier attempts are counted again by every report of a loss',
    file: 'script/restore-uses.lua',
    find: "if call('SISMEMBER', restored, op) == 1 then return 1 end",
    replace: '',
    why: 'a limit is used up by a report whose answer was lost',
    tests: ['/server/src/admission/rebuilt-windows.db.test.ts'],
  },
]);
