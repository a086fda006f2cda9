import { registerHooks } from 'node:module';
import type { CreateReference } from './reference.fixture.ts';

/** A deliberate fault in the text of the reference, which the rule named has to catch. */
export interface PlantedFault {
  readonly rule: string;
  readonly name: string;
  /** The file of `memory/`, and what is replaced in it. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const PLANTED: readonly PlantedFault[] = [
  {
    rule: 'windows',
    name: 'a window that is too short',
    file: 'window.ts',
    from: 'minute: { bucketMs: 500, span: 122,',
    to: 'minute: { bucketMs: 500, span: 118,',
  },
  {
    rule: 'in time',
    name: 'promises that are not kept free',
    file: 'fitting.ts',
    from: 'return lastFullRun(waiter, window, cost, call.nowMs, shadow, true) >= 0;',
    to: 'return false;',
  },
  {
    rule: 'idle',
    name: 'a line that wakes late',
    file: 'places.ts',
    from: 'return openMs > nowMs ? openMs : nowMs + LOOK_AGAIN_MS;',
    to: 'return (openMs > nowMs ? openMs : nowMs) + 400;',
  },
  {
    rule: 'idle',
    name: 'a settlement that tells nobody',
    file: 'lease.ts',
    from: 'touch(state.line, key);',
    to: '',
  },
  {
    rule: 'class',
    name: 'a line without classes',
    file: 'turns.ts',
    from: 'for (const rank of [...owed, ...RANKS])',
    to: 'for (const rank of [2, 1, 0])',
  },
  {
    rule: 'tenth',
    name: 'a lower class that is owed nothing',
    file: 'dispatch.ts',
    from: 'const LOWER_CLASS_CREDIT = 1 / 8;',
    to: 'const LOWER_CLASS_CREDIT = 0;',
  },
  {
    rule: 'fair',
    name: 'callers that are not told apart',
    file: 'dispatch.ts',
    from: 'line.served[rank]?.set(caller, startedAt + share);',
    to: '',
  },
  {
    rule: 'arrival',
    name: 'last come, first served',
    file: 'turns.ts',
    from: '[...waiters.slice(0, BEHIND_HEAD_MAX), ...bySize.slice(0, 1)]',
    to: '[...waiters.slice(-BEHIND_HEAD_MAX).reverse(), ...bySize.slice(0, 1)]',
  },
  {
    rule: 'order',
    name: 'an ask that is decided before the line is moved',
    file: 'admit.ts',
    from: 'step(call);\n  const lease',
    to: 'const lease',
  },
  {
    rule: 'pace',
    name: 'a pace that is twice as fast',
    file: 'pace.ts',
    from: 'let interval = intervalMs(window);',
    to: 'let interval = intervalMs(window) / 2;',
  },
  {
    rule: 'retry',
    name: 'a Retry-After that forgets the line',
    file: 'retry-after.ts',
    from: 'const retryAfterMs = Math.max(1, Math.ceil(room.atMs + guardMs(waiter) - deadlineMs));',
    to: 'const retryAfterMs = Math.max(1, Math.ceil((room.atMs + guardMs(waiter) - deadlineMs) / 2));',
  },
  {
    rule: 'writes',
    name: 'a refusal that moves the pace',
    file: 'admit.ts',
    from: 'if (chosen === null) return refuse(call, waiter);',
    to: 'if (chosen === null) {\n    for (const { charges } of waiter.candidates) for (const { window } of charges) window.paceMarkMs = call.nowMs;\n    return refuse(call, waiter);\n  }',
  },
  {
    rule: 'lease',
    name: 'units that are not given back when a gateway dies',
    file: 'lease.ts',
    from: 'const { charges } = lease;\n  returnUnits(call, lease);',
    to: 'const { charges } = lease;',
  },
];

/** The reference with a fault in it: its files are loaded once more, with that text replaced. */
export async function createFaulty(fault: PlantedFault, index: number): Promise<CreateReference> {
  const query = `?planted=${index}`;
  let planted = 0;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const isPart =
        resolved.url.includes('/admission/memory/') && context.parentURL?.endsWith(query) === true;
      return isPart ? { ...resolved, url: `${resolved.url.split('?')[0]}${query}` } : resolved;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/${fault.file}${query}`)) return loaded;
      const source = String(loaded.source);
      const changed = source.replaceAll(fault.from, fault.to);
      if (changed !== source) planted += 1;
      return { ...loaded, source: changed };
    },
  });
  const { createMemoryEngine }: { createMemoryEngine: CreateReference } = await import(
    `../memory/engine.ts${query}`
  );
  hooks.deregister();
  if (planted === 0) throw new Error(`nothing to plant for "${fault.name}"`);
  return createMemoryEngine;
}
