import type { AdmissionAnswer, SettleAnswer, SettleAsk, WindowState } from '../engine.ts';
import type { Shape, ShapedAsk } from './shapes.ts';
import { listOf, type OperationRelease, readAnswer, readReleases } from './wire.ts';

/** What one call of the `batch` script does, in this order. No operation is in it twice. */
export interface Batch {
  readonly settles: readonly SettleAsk[];
  readonly voids: readonly { readonly organizationId: string; readonly operationId: string }[];
  readonly asks: readonly ShapedAsk[];
}

export interface BatchReply {
  /** The store's time. */
  readonly nowMs: number;
  readonly settled: readonly SettleAnswer[];
  readonly answers: readonly AdmissionAnswer[];
  readonly releases: readonly OperationRelease[];
  /** For each organization, when its line has something to do; null when no request waits there. */
  readonly nexts: ReadonlyMap<string, number | null>;
}

export interface EncodedBatch {
  readonly args: readonly string[];
  readonly organizationIds: readonly string[];
  readonly read: (reply: unknown) => BatchReply;
}

/** Arguments as `shapes.lua` names them. */
export function encodeBatch(
  { settles, voids, asks }: Batch,
  call: { readonly time: string; readonly gatewayId: string; readonly full: boolean },
): EncodedBatch {
  const organizations = new Set<string>();
  const shapes = numbering<Shape>();
  const lists: string[] = [];
  const askArgs: string[] = [];
  for (const { organizationId, operationId, actual, earlier = [], record } of settles) {
    const uses = [...earlier, actual];
    organizations.add(organizationId);
    lists.push(
      operationId,
      uses.map(({ dispatched, tokens }) => (dispatched ? String(tokens) : '')).join(' '),
      uses.map(({ spendMicros }) => spendMicros).join(' '),
      record,
    );
  }
  for (const { organizationId, operationId } of voids) {
    organizations.add(organizationId);
    lists.push(operationId);
  }
  for (const shaped of asks) {
    organizations.add(shaped.shape.organizationId);
    const { operationId, draft } = shaped.ask;
    askArgs.push(operationId, String(shapes.of(shaped.shape)), moreOf(shaped), draft);
    for (const cost of shaped.costs[0] ?? []) askArgs.push(String(cost));
  }
  const ids = [...organizations];
  const counted = [ids, settles, voids, shapes.items, asks].map(({ length }) => String(length));
  // The short way knows of one attempt only.
  const full = call.full || settles.some(({ earlier = [] }) => earlier.length > 0);
  const args = [call.time, call.gatewayId, full ? 'full' : '', ...counted, ...ids];
  for (const each of lists) args.push(each);
  for (const { text } of shapes.items) args.push(text);
  for (const each of askArgs) args.push(each);
  return {
    args,
    organizationIds: ids,
    read: (reply) => {
      const list = listOf(reply);
      return list[0] === 'fast'
        ? readFast(list, { settles, asks, organizations: ids, shapes: shapes.items })
        : readFull(list, asks, ids);
    },
  };
}

/** What only the full rules need of an ask: which attempt it is for and what the failed one used, the wait budget, and the costs of later candidates. */
function moreOf({ ask: { release, attempt = 0, waitMsMax }, costs }: ShapedAsk): string {
  const { tokens, spendMicros } = release ?? { tokens: 0, spendMicros: 0 };
  const failed = release === undefined ? '.' : release.dispatched ? '1' : '0';
  const before =
    release === undefined && attempt === 0 ? '' : `- ${attempt} ${failed} ${tokens} ${spendMicros} `;
  let text = `${before}${Math.floor(waitMsMax)}`;
  for (let index = 1; index < costs.length; index += 1)
    for (const cost of costs[index] ?? []) text += ` ${cost}`;
  return text;
}

interface Numbering<T> {
  readonly items: T[];
  /** From one. */
  of(item: T): number;
}

function numbering<T>(): Numbering<T> {
  const numbers = new Map<T, number>();
  const items: T[] = [];
  return {
    items,
    of(item) {
      const known = numbers.get(item);
      if (known !== undefined) return known;
      const made = items.push(item);
      numbers.set(item, made);
      return made;
    },
  };
}

interface FastBatch {
  readonly settles: readonly SettleAsk[];
  readonly asks: readonly ShapedAsk[];
  readonly organizations: readonly string[];
  readonly shapes: readonly Shape[];
}

/**
 * Every ask was admitted by its first candidate. The reply tells what each window has used after the whole batch; what it was after an earlier
 * ask is less by the costs of the later ones.
 */
function readFast(list: readonly unknown[], { settles, asks, organizations, shapes }: FastBatch): BatchReply {
  const states = new Map<string, { used: number; readonly resetMs: number }>();
  let position = settles.length + 3;
  for (const { charges } of shapes) {
    for (const { window } of charges) {
      states.set(window, { used: Number(list[position]), resetMs: Number(list[position + 1]) });
      position += 2;
    }
  }
  const answers: AdmissionAnswer[] = [];
  for (const { shape, costs } of asks.toReversed()) {
    const windows: WindowState[] = [];
    for (const { policyId, window, column } of shape.charges) {
      const state = states.get(window) ?? { used: 0, resetMs: 0 };
      windows.push({ policyId, used: state.used, resetMs: state.resetMs });
      state.used -= column === 0 ? 1 : (costs[0]?.[column - 1] ?? 0);
    }
    answers.push({ kind: 'admitted', candidate: 0, windows, agoMs: 0 });
  }
  return {
    nowMs: Number(list[1]),
    settled: settles.map((_, index) => settleAnswer(list[index + 3])),
    answers: answers.reverse(),
    releases: [],
    nexts: new Map(organizations.map((id) => [id, null])),
  };
}

function readFull(
  [, now, , settled, answers, releases, nexts]: readonly unknown[],
  asks: readonly ShapedAsk[],
  organizations: readonly string[],
): BatchReply {
  const replies = listOf(answers);
  const times = listOf(nexts);
  return {
    nowMs: Number(now),
    settled: listOf(settled).map(settleAnswer),
    answers: asks.map(({ ask }, index) => readAnswer(listOf(replies[index]), ask.candidates)),
    releases: readReleases(releases),
    nexts: new Map(organizations.map((id, index) => [id, nextOf(times[index])])),
  };
}

/** The scripts say -1 when no request waits. */
function nextOf(value: unknown): number | null {
  const inMs = Number(value ?? -1);
  return inMs < 0 ? null : inMs;
}

function settleAnswer(flag: unknown): SettleAnswer {
  return Number(flag) === 1 ? 'settled' : 'unknown';
}
