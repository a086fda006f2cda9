import type { PlantedBug } from './load-simulation.fixture.ts';

/** Each is found within 60 seeds. */
export const PLANTED: readonly PlantedBug[] = [
  {
    name: 'an entry that is acknowledged before its rows are committed',
    file: '/metering/ledger-turn.ts',
    from: 'const { rows, poisoned } = await writeEntries(deps, ready);',
    to: 'await acknowledgeEntries(ready.taken);\n      const { rows, poisoned } = await writeEntries(deps, ready);',
  },
  {
    name: 'leases that are never extended',
    file: '/admission/lease-keeper.ts',
    from: 'timer ??= setInterval(() => void beat(), CHECK_EVERY_MS);',
    to: '',
  },
  {
    name: 'a place that is not given back when its client leaves',
    file: '/admission/desk.ts',
    from: "left.set(operationId, { ...found, state: 'waiting' });\n  }\n  engine.void(organizationId, operationId).then(",
    to: '}\n  Promise.resolve(engine).then(',
  },
  {
    name: 'a charge that is written again beside the answer that gave it back',
    file: '/admission/desk.ts',
    from: "left.set(ask.operationId, { ...before, state: 'waiting' });",
    to: 'left.delete(ask.operationId);',
  },
  {
    name: 'a settlement that is dropped when the store fails',
    file: '/metering/journal/stream-journal.ts',
    from: "keep({ kind: 'settlement', ...settlement }),",
    to: 'undefined,',
  },
  {
    name: 'a journal that forgets what an earlier process left',
    file: '/metering/journal/stream-journal.ts',
    from: 'journal.files.adopt();',
    to: '',
  },
  {
    name: 'a release that is used however late it comes',
    file: '/inference/admit/await-capacity.ts',
    from: 'if (agoMs <= boundMs || late >= LATE_ANSWERS_MAX)',
    to: 'if (late >= 0)',
  },
  {
    name: 'an expired lease without a row',
    file: '/admission/memory/sweep.ts',
    from: 'appendExpired(lease.draft, lease.candidate);',
    to: '',
  },
  {
    name: 'a state that is believed although the store lost its last moments',
    file: '/admission/redis/epochs.ts',
    from: '(state.isDoubted || found.sequence < state.sequence)',
    to: 'false',
  },
  {
    name: 'settlements that are not sent again after a loss',
    file: '/admission/shard-reports.ts',
    from: 'await settlements.sendAgain(shard, beforeMs, isNewest);',
    to: '',
  },
];
