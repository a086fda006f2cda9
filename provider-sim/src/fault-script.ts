import { actsBeforeBody, type Fault, isRecord, parseFault } from './fault.ts';

/** Which requests a rule is for. All given parts must hold. */
export interface ScriptMatch {
  /** A whole path (`/v1/embeddings`) or its end (`embeddings`). */
  path?: string;
  model?: string;
  key?: string;
  /** Fire from the nth matching request on, counted from 1 since the rule was added. */
  nth?: number;
  /** Of those, fire for each one whose number is a multiple of this. */
  every?: number;
  /** Fire for this many requests; 1 unless the rule is persistent. */
  count?: number;
}

export interface ScriptRule {
  match?: ScriptMatch;
  fault: Fault;
  /** Stays until reset instead of being used up. */
  persistent?: boolean;
}

export interface ScriptTarget {
  path: string;
  key: string;
  /** Unknown until the body was read. */
  model: string | null;
}

interface LiveRule {
  match: ScriptMatch;
  fault: Fault;
  seen: number;
  left: number;
}

export interface FaultScript {
  add(rules: ScriptRule[]): void;
  /** The fault for this request, using up one use of the first rule that fires. */
  take(target: ScriptTarget, stage: 'headers' | 'body'): Fault | null;
  clear(): void;
  pending(): number;
}

export function createFaultScript(): FaultScript {
  const rules: LiveRule[] = [];
  return {
    add(given) {
      for (const rule of given.map(parseRule)) rules.push(rule);
    },
    take(target, stage) {
      if (rules.length === 0) return null;
      for (const [index, rule] of rules.entries()) {
        if (stageOf(rule) !== stage || !matches(rule.match, target)) continue;
        rule.seen += 1;
        if (rule.seen < (rule.match.nth ?? 1) || rule.seen % (rule.match.every ?? 1) !== 0) continue;
        rule.left -= 1;
        if (rule.left <= 0) rules.splice(index, 1);
        return rule.fault;
      }
      return null;
    },
    clear() {
      rules.length = 0;
    },
    pending: () => rules.length,
  };
}

/** A rule on a model can only be judged once the body is read, even when its fault would act earlier. */
function stageOf(rule: LiveRule): 'headers' | 'body' {
  return actsBeforeBody(rule.fault) && rule.match.model === undefined ? 'headers' : 'body';
}

function matches(match: ScriptMatch, target: ScriptTarget): boolean {
  if (match.path !== undefined && !target.path.endsWith(match.path)) return false;
  if (match.key !== undefined && match.key !== target.key) return false;
  return match.model === undefined || match.model === target.model;
}

const matchFields: Record<keyof ScriptMatch, 'string' | 'number'> = {
  path: 'string',
  model: 'string',
  key: 'string',
  nth: 'number',
  every: 'number',
  count: 'number',
};

function parseRule(rule: unknown): LiveRule {
  if (!isRecord(rule)) throw new Error('A script rule must be an object.');
  for (const name of Object.keys(rule)) {
    if (name !== 'match' && name !== 'fault' && name !== 'persistent') {
      throw new Error(`Unknown script rule field '${name}'.`);
    }
  }
  const match = rule['match'] ?? {};
  if (!isRecord(match)) throw new Error("'match' of a script rule must be an object.");
  for (const [name, value] of Object.entries(match)) {
    if (!Object.hasOwn(matchFields, name)) throw new Error(`Unknown match field '${name}'.`);
    if (typeof value !== matchFields[name as keyof ScriptMatch]) {
      throw new Error(`Match field '${name}' must be a ${matchFields[name as keyof ScriptMatch]}.`);
    }
  }
  const typedMatch = match as ScriptMatch;
  const left = rule['persistent'] === true ? Number.POSITIVE_INFINITY : (typedMatch.count ?? 1);
  return { match: typedMatch, fault: parseFault(rule['fault']), seen: 0, left };
}
