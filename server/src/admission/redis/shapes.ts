import { createHash } from 'node:crypto';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { isUnitCost, METRICS } from '../../domain/limits/metric.ts';
import { CLASS_RANK } from '../class-rank.ts';
import type { AdmissionAsk, CandidateAsk } from '../engine.ts';
import { windowKey } from '../window-key.ts';

/** What asks of one caller in one lane have in common. A batch tells it once. */
export interface Shape {
  readonly organizationId: string;
  /** As `shapes.lua` describes it. */
  readonly text: string;
  /** What the first candidate charges. */
  readonly charges: readonly ShapeCharge[];
}

export interface ShapeCharge {
  readonly policyId: string;
  /** The window's name in the shard. */
  readonly window: string;
  /** Which of the candidate's costs, from one; 0: one request. */
  readonly column: number;
}

export interface ShapedAsk {
  readonly ask: AdmissionAsk;
  readonly shape: Shape;
  /** The different costs of each candidate. */
  readonly costs: readonly (readonly number[])[];
}

const SHAPES_MAX = 10_000;
/** The bytes of a name in a lease. */
const NAME_LENGTH = 16;

/** Remembers shapes: working one out costs more than asking. */
export function createShapes(): (ask: AdmissionAsk) => ShapedAsk {
  const shapes = new Map<string, Shape>();
  const numberOf = numberPolicies();

  return (ask) => {
    const head = headOf(ask);
    let key = `${ask.organizationId}\n${head.join('\n')}`;
    const costs = ask.candidates.map((candidate) => {
      const { columns, values } = columnsOf(candidate);
      key += `\n${candidate.endpointId}${candidate.paced ? '~' : ' '}`;
      for (const [index, { policy }] of candidate.charges.entries())
        key += `${numberOf(policy)}.${columns[index]} `;
      return values;
    });
    let shape = shapes.get(key);
    if (shape === undefined) {
      if (shapes.size >= SHAPES_MAX) shapes.clear();
      shape = shapeOf(ask, head);
      shapes.set(key, shape);
    }
    return { ask, shape, costs };
  };
}

function headOf(ask: AdmissionAsk): string[] {
  return [
    ask.queue,
    ask.caller,
    String(ask.waitersMax),
    String(CLASS_RANK[ask.priority]),
    ask.mixedClasses ? '1' : '0',
    String(ask.configVersion),
    ask.selection,
    String(ask.leaseMs),
  ];
}

/** Which costs a candidate has, each once: limits of one quantity are charged the same. */
export function columnsOf({ charges }: CandidateAsk): { columns: number[]; values: number[] } {
  const quantities: string[] = [];
  const values: number[] = [];
  const columns = charges.map(({ policy: { metric }, cost }) => {
    if (cost === 1 && isUnitCost(metric)) return 0;
    const { quantity } = METRICS[metric];
    const known = values.findIndex((value, index) => value === cost && quantities[index] === quantity);
    if (known >= 0) return known + 1;
    quantities.push(quantity);
    return values.push(cost);
  });
  return { columns, values };
}

function shapeOf(ask: AdmissionAsk, head: readonly string[]): Shape {
  const { organizationId } = ask;
  const candidates = ask.candidates.length === 0 ? [NOWHERE] : ask.candidates;
  const [first = NOWHERE] = candidates;
  const numbers = new Map<string, number>();
  const windows: string[] = [];
  for (const { policy } of candidates.flatMap(({ charges }) => charges)) {
    const key = windowKey(policy);
    if (numbers.has(key)) continue;
    numbers.set(key, numbers.size + 1);
    windows.push(key, policy.metric, policy.period);
  }
  const each = candidates.flatMap((candidate) => candidateFields(organizationId, candidate, numbers));
  const fields = [organizationId, ...head, String(numbers.size), ...windows, ...each];
  const { columns } = columnsOf(first);
  return {
    organizationId,
    text: `${fields.join('\n')}\n`,
    charges: first.charges.map(({ policy }, index) => ({
      policyId: policy.id,
      window: `${organizationId}:${windowKey(policy)}`,
      column: columns[index] ?? 0,
    })),
  };
}

const NOWHERE: CandidateAsk = { endpointId: '', paced: false, charges: [] };

function candidateFields(
  organizationId: string,
  candidate: CandidateAsk,
  numbers: ReadonlyMap<string, number>,
): string[] {
  const { columns, values } = columnsOf(candidate);
  const { endpointId, paced, charges } = candidate;
  const name = nameOf(organizationId, candidate, columns);
  return [
    ...[endpointId, paced ? '1' : '0', name, String(values.length), String(charges.length)],
    ...charges.flatMap(({ policy }, index) => [
      ...[String(numbers.get(windowKey(policy))), String(policy.limit)],
      String(columns[index]),
    ]),
  ];
}

/** Equal for candidates whose charges are settled alike. */
export function nameOf(
  organizationId: string,
  { charges }: CandidateAsk,
  columns: readonly number[],
): string {
  const text = charges.map(({ policy }, index) => `${windowKey(policy)} ${columns[index]}`);
  const digest = createHash('sha256').update([organizationId, ...text].join('\n'));
  return digest.digest('base64url').slice(0, NAME_LENGTH);
}

/** Limits are objects of a snapshot and live as long: a number for each is a shorter key than its id. */
function numberPolicies(): (policy: AppliedLimit) => number {
  const numbers = new WeakMap<AppliedLimit, number>();
  let last = 0;
  return (policy) => {
    const known = numbers.get(policy);
    if (known !== undefined) return known;
    last += 1;
    numbers.set(policy, last);
    return last;
  };
}
