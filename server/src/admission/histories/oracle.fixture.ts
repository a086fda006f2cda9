import { isPaced, type UsedAmounts } from '../../domain/limits/metric.ts';
import type { AdmissionAnswer, AdmissionAsk, CandidateAsk, Release } from '../engine.ts';
import type { OrganizationState } from '../memory/model.ts';
import {
  fits,
  isEqual,
  isTimed,
  notePace,
  type PaceMarks,
  paceNextMs,
  type Standing,
  takesMore,
} from './line-rules.fixture.ts';
import {
  dispatchesOf,
  emptyLog,
  noteEnded,
  noteLimit,
  noteReached,
  noteSent,
  type ProviderLog,
  prune,
} from './provider-log.fixture.ts';
import type { World } from './random-history.fixture.ts';

/** How long a waiter that fits may stay unserved. */
const IDLE_MS_MAX = 100;
/** Reservations keep this distance from the deadline. */
const GUARD_MS = 200;
/** A lower class is owed one request after this many went ahead of it. */
const OWED_AFTER = 8;
const MINUTE_MS = 60_000;
const LOOKED_AT_MAX = 24;
const RANKS = { interactive: 0, standard: 1, batch: 2 } as const;

interface Accepted {
  readonly ask: AdmissionAsk;
  readonly deadlineMs: number;
  readonly firm: boolean;
  excused: string | null;
}

/**
 * Judges one organization from what its providers saw and from what was promised, a rule for each promise. It sees the plan, to know
 * whose promise would be broken, and shares no arithmetic with the engines.
 */
export class Oracle {
  readonly violations: string[] = [];
  readonly counts = { promises: 0, excused: 0, looks: 0, turns: 0 };
  readonly #log: ProviderLog = emptyLog();
  readonly #marks: PaceMarks = new Map();
  readonly #accepted = new Map<string, Accepted>();
  readonly #cooldowns = new Map<string, number>();
  readonly #fitsSince = new Map<string, number>();
  readonly #world: World;
  readonly #state: () => OrganizationState | undefined;
  /** Plain worlds: who went, and since when each class, and each caller of it, has a waiter. */
  readonly #went: { atMs: number; rank: number; caller: string; isTurn: boolean }[] = [];
  readonly #classesSince = new Map<string, number>();
  /** Also while the line stands still: what promises gave to one then, another may have after it. */
  readonly #callersSince = new Map<string, number>();
  readonly #higherSince = [0, 0, 0];
  /** What callers were served of another limit still counts for those who wait. */
  #hasOldShares = false;
  #lineSinceMs = 0;
  #before: Standing[] = [];

  constructor(world: World, state: () => OrganizationState | undefined) {
    this.#world = world;
    this.#state = state;
    for (const policy of world.policies) noteLimit(this.#log, policy);
  }

  /** Before each call: who stands where. */
  begin(): void {
    this.#before = this.#standing();
  }

  #standing(): Standing[] {
    const waiters = this.#state()?.line?.waiting.values() ?? [];
    return [...waiters].flatMap(({ operationId, rank, seq, deadlineMs, slotMs, reservedOn, only }) => {
      const ask = this.#accepted.get(operationId)?.ask;
      return ask === undefined ? [] : [{ ask, rank, seq, deadlineMs, slotMs, reservedOn, only }];
    });
  }

  answered(ask: AdmissionAsk, answer: AdmissionAnswer, nowMs: number): void {
    if (answer.kind === 'wait') {
      if (answer.firm) this.counts.promises += 1;
      const deadlineMs = nowMs + ask.waitMsMax;
      // The plan holds more than a lowered limit allows while those accepted before it wait, and they change places with others.
      const isOver = [...this.#accepted.values()].some(({ excused }) => excused === 'lowered');
      const excused = isOver ? 'lowered' : null;
      this.#accepted.set(ask.operationId, { ask, deadlineMs, firm: answer.firm, excused });
    } else if (answer.kind === 'admitted') {
      // One that was let go and never sent was paced already.
      const isTurn = ask.waitMsMax > 0 && ask.release?.dispatched !== false;
      if (isTurn) this.#judgeArrival(ask, nowMs);
      this.#sent(ask, answer.candidate, nowMs, isTurn);
    }
    this.#noteWaiting(nowMs);
  }

  /** In the order in which they were let go. */
  released(operationId: string, release: Release, nowMs: number): void {
    const known = this.#accepted.get(operationId);
    if (known === undefined) {
      this.violations.push(`order: ${operationId} was let go after it had left`);
      return;
    }
    this.#accepted.delete(operationId);
    this.#fitsSince.delete(operationId);
    if (release.kind === 'refused') {
      if (known.firm) this.#missed(known, `in time: ${operationId} was accepted and never served`);
      return;
    }
    if (known.firm && nowMs > known.deadlineMs)
      this.#missed(known, `in time: ${operationId} went ${nowMs - known.deadlineMs} ms late`);
    const stood = this.#before.find(({ ask }) => ask.operationId === operationId);
    const isTurn =
      stood !== undefined && stood.deadlineMs > nowMs && (stood.slotMs < 0 || stood.slotMs > nowMs);
    if (stood !== undefined) this.#noteLost(stood, nowMs, isTurn);
    if (isTurn) this.#judgeOrder(stood, nowMs);
    this.#sent(known.ask, release.candidate, nowMs, isTurn);
    this.#before = this.#before.filter((each) => each !== stood);
    this.#noteWaiting(nowMs);
  }

  /** Those whose moment had come before it and who still wait: their promises were lost, or moved, when it went. */
  #noteLost(stood: Standing, nowMs: number, isTurn: boolean): void {
    const isPast = ({ slotMs, seq }: Standing) =>
      slotMs >= 0 && slotMs <= nowMs && (isTurn || (slotMs - stood.slotMs || seq - stood.seq) < 0);
    if (!this.#before.some(isPast)) return;
    const now = new Map(this.#standing().map((each) => [each.seq, each]));
    this.#before = this.#before.map((each) => (isPast(each) ? (now.get(each.seq) ?? each) : each));
  }

  #missed(known: Accepted, text: string): void {
    if (known.excused === null) this.violations.push(text);
    else this.counts.excused += 1;
  }

  left(operationId: string, nowMs: number): void {
    this.#accepted.delete(operationId);
    this.#fitsSince.delete(operationId);
    this.#noteWaiting(nowMs);
  }

  reached(operationId: string, candidate: CandidateAsk, nowMs: number): void {
    this.violations.push(...noteReached(this.#log, operationId, candidate, nowMs));
    prune(this.#log, nowMs - 2 * MINUTE_MS);
  }

  ended(operationId: string, candidate: CandidateAsk, actual: UsedAmounts | null, nowMs: number): void {
    for (const policyId of noteEnded(this.#log, operationId, candidate, actual, nowMs))
      this.excuse('overuse', ({ charges }) => charges.some(({ policy }) => policy.id === policyId));
  }

  /** The ledger knows of use that was not seen here. */
  usedBefore(policyId: string, amount: number, nowMs: number): void {
    dispatchesOf(this.#log, policyId).push({
      operationId: '',
      sentMs: nowMs,
      reachedMs: Number.POSITIVE_INFINITY,
      amount,
      limit: Number.POSITIVE_INFINITY,
    });
    this.excuse('overuse', ({ charges }) => charges.some(({ policy }) => policy.id === policyId));
  }

  /** An operation that was in flight before the store lost it; no limit was asked. */
  restored(ask: AdmissionAsk, sentMs: number): void {
    const candidate = ask.candidates[0];
    if (candidate !== undefined) noteSent(this.#log, ask.operationId, candidate, sentMs);
    for (const all of this.#log.dispatches.values())
      for (const each of all) if (each.operationId === ask.operationId) each.limit = Number.POSITIVE_INFINITY;
    this.excuse('restored');
    this.#fitsSince.clear();
  }

  /** Its gateway died: it stays charged, and its units are free. */
  expired(operationId: string): void {
    for (const held of this.#log.inFlight.values()) held.delete(operationId);
  }

  limitChanged(policyId: string, isLowered: boolean): void {
    const policy = this.#world.policies.find(({ id }) => id === policyId);
    if (policy !== undefined) noteLimit(this.#log, policy);
    if (isLowered)
      this.excuse('lowered', ({ charges }) => charges.some((each) => each.policy.id === policyId));
    this.#classesSince.clear();
    this.#hasOldShares = true;
  }

  cooled(endpointId: string, untilMs: number): void {
    this.#cooldowns.set(endpointId, Math.max(untilMs, this.#cooldowns.get(endpointId) ?? 0));
    this.excuse('cooldown', (candidate) => candidate.endpointId === endpointId);
    this.#classesSince.clear();
  }

  /** Those who were promised something before this happened are excused. */
  excuse(reason: string, touches: (candidate: CandidateAsk) => boolean = () => true): void {
    for (const each of this.#accepted.values())
      if (each.ask.candidates.some(touches)) each.excused ??= reason;
  }

  /** The line was not moved for a while. */
  stoodStill(): void {
    this.excuse('late');
    this.#fitsSince.clear();
    this.#classesSince.clear();
  }

  #sent(ask: AdmissionAsk, index: number, nowMs: number, isTurn: boolean): void {
    const candidate = ask.candidates[index];
    if (candidate === undefined) return;
    const taken = new Set(candidate.charges.map(({ policy }) => policy.id));
    for (const { policy } of candidate.charges) {
      if (!isPaced(policy)) continue;
      const nextMs = paceNextMs(this.#log, this.#marks, this.#before, policy.id, nowMs);
      if (isTurn && candidate.paced && nextMs > nowMs + 1e-6)
        this.violations.push(`pace: ${ask.operationId} went ${(nextMs - nowMs).toFixed(1)} ms ahead of it`);
      notePace(this.#marks, policy, nextMs, nowMs);
    }
    this.violations.push(...noteSent(this.#log, ask.operationId, candidate, nowMs));
    // A waiter was served from these limits, so they do not idle: a waiter that fitted is counted from here again.
    for (const operationId of this.#fitsSince.keys()) {
      const other = this.#accepted.get(operationId)?.ask;
      const shares = other?.candidates.some(({ charges }) =>
        charges.some(({ policy }) => taken.has(policy.id)),
      );
      if (shares !== false) this.#fitsSince.delete(operationId);
    }
    const rank = RANKS[ask.priority];
    this.#higherSince[rank] = 0;
    for (const lower of [1, 2])
      if (lower > rank) this.#higherSince[lower] = (this.#higherSince[lower] ?? 0) + 1;
    this.#went.push({ atMs: nowMs, rank, caller: ask.caller, isTurn });
  }

  /** No request overtakes by arriving. */
  #judgeArrival(ask: AdmissionAsk, nowMs: number): void {
    // A step that came to its bound continues after the ask.
    const isAtBound = (this.#state()?.line?.wake[0]?.atMs ?? nowMs + 1) <= nowMs;
    if (!this.#world.isPlain || isAtBound) return;
    for (const other of this.#standing()) {
      if (other.rank > RANKS[ask.priority] || other.slotMs < 0 || !isEqual(ask, other.ask, true)) continue;
      if (this.#isCooling(other, nowMs)) continue;
      this.violations.push(`order: ${ask.operationId} came and went ahead of ${other.ask.operationId}`);
      return;
    }
  }

  /**
   * One that goes in turn must not be ahead of one that could have gone in its place. Order is decided between the first of each
   * queue; behind a first that cannot go, those whose moment is near may.
   */
  #judgeOrder(one: Standing, nowMs: number): void {
    this.counts.turns += 1;
    const stood = new Set(this.#before.map(({ seq }) => seq));
    const queues = new Set<string>();
    for (const other of this.#standing().sort((a, b) => a.seq - b.seq)) {
      const queue = `${other.rank} ${other.ask.queue} ${other.only}`;
      if (queues.has(queue) || !stood.has(other.seq)) continue;
      queues.add(queue);
      if (!isEqual(one.ask, other.ask, this.#world.isPlain) || other.slotMs < 0 || one.slotMs < 0) continue;
      if (other.only >= 0 && other.only !== one.only) continue;
      // Promises come before order: it could not have waited until the other's moment.
      if (other.slotMs > one.deadlineMs - GUARD_MS || this.#isCooling(other, nowMs)) continue;
      // Nor is a firm promise given for one that depends on a unit.
      if (isTimed(one.ask, one.reservedOn) && !isTimed(one.ask, other.reservedOn)) continue;
      const wrong = this.#isAhead(other, one);
      if (wrong === null) continue;
      this.violations.push(`${wrong}: ${one.ask.operationId} went ahead of ${other.ask.operationId}`);
      return;
    }
  }

  #isAhead(other: Standing, one: Standing): string | null {
    if (other.rank !== one.rank) {
      const isOwed = (this.#higherSince[one.rank] ?? 0) >= OWED_AFTER;
      return other.rank < one.rank && !isOwed ? 'class' : null;
    }
    if (other.ask.caller === one.ask.caller)
      return other.ask.queue === one.ask.queue && other.seq < one.seq ? 'arrival' : null;
    return this.#isFair(other, one) ? null : 'fair';
  }

  /**
   * Since both wait, one may be ahead of the other by two requests. What promises gave it beyond that is not made up for later, so
   * only going in turn again and again is held against it. One that left and came back has what it was served before.
   */
  #isFair(other: Standing, one: Standing): boolean {
    const bothMs = Math.max(this.#sinceMs(other), this.#sinceMs(one));
    return this.#hasOldShares || [bothMs, this.#lineSinceMs].some((each) => this.#isEven(other, one, each));
  }

  #isEven(other: Standing, one: Standing, sinceMs: number): boolean {
    let ahead = 1;
    let inTurn = 1;
    for (const { atMs, rank, caller, isTurn } of this.#went) {
      if (atMs <= sinceMs || rank !== one.rank) continue;
      if (caller === one.ask.caller) {
        ahead += 1;
        if (isTurn) inTurn += 1;
      } else if (caller === other.ask.caller) {
        ahead -= 1;
        inTurn = 1;
      }
    }
    return ahead <= 2 || inTurn <= 2;
  }

  #sinceMs({ rank, ask }: Standing): number {
    return this.#callersSince.get(`${rank} ${ask.caller}`) ?? Number.POSITIVE_INFINITY;
  }

  #isCooling({ ask }: Standing, nowMs: number): boolean {
    return ask.candidates.some(({ endpointId }) => (this.#cooldowns.get(endpointId) ?? 0) > nowMs);
  }

  /** Plain worlds: since when each class, and each caller of it, has had a waiter in line. */
  #noteWaiting(nowMs: number): void {
    if (!this.#world.isPlain) return;
    const standing = this.#standing();
    if (standing.length === 0) {
      this.#hasOldShares = false;
      this.#lineSinceMs = nowMs;
    }
    const classes = new Set(standing.map(({ rank }) => `${rank}`));
    noteSince(this.#classesSince, classes, nowMs);
    noteSince(this.#callersSince, new Set(standing.map(({ rank, ask }) => `${rank} ${ask.caller}`)), nowMs);
    for (const rank of [1, 2]) if (!classes.has(`${rank}`)) this.#higherSince[rank] = 0;
  }

  /** A look at any time: does a waiter stand that fits, and has each class its share? */
  look(nowMs: number): void {
    const waiting = this.#standing();
    if (waiting.length === 0) {
      this.#fitsSince.clear();
      return;
    }
    this.counts.looks += 1;
    this.#judgeShares(nowMs);
    const paces = new Map<string, number>();
    const paceNext = (policyId: string) => {
      const nextMs = paces.get(policyId) ?? paceNextMs(this.#log, this.#marks, waiting, policyId, nowMs);
      paces.set(policyId, nextMs);
      return nextMs;
    };
    // A larger one ahead keeps its earliest moment, and a step looks at a few of those whose moment is near, cooling or not.
    const mayHoldBack = (other: Standing, one: Standing) =>
      other !== one &&
      (takesMore(other, one) || (other.slotMs < one.slotMs && this.#isCooling(other, nowMs)));
    for (const one of waiting.slice(0, LOOKED_AT_MAX)) {
      const { operationId, candidates } = one.ask;
      const mayGo = candidates.some(
        (candidate, index) =>
          (one.only < 0 || one.only === index) &&
          (this.#cooldowns.get(candidate.endpointId) ?? 0) <= nowMs &&
          fits(this.#log, paceNext, waiting, one, candidate, nowMs),
      );
      if (!mayGo) {
        this.#fitsSince.delete(operationId);
        continue;
      }
      const sinceMs = this.#fitsSince.get(operationId) ?? nowMs;
      this.#fitsSince.set(operationId, sinceMs);
      if (nowMs - sinceMs <= IDLE_MS_MAX || waiting.some((other) => mayHoldBack(other, one))) continue;
      this.violations.push(`idle: ${operationId} fits for ${nowMs - sinceMs} ms`);
      this.#fitsSince.delete(operationId);
    }
  }

  /** Each lower class has a tenth of any minute in which it has a waiter, less one request. */
  #judgeShares(nowMs: number): void {
    if (!this.#world.isPlain || !this.#world.mixedClasses) return;
    while ((this.#went[0]?.atMs ?? nowMs) < nowMs - 10 * MINUTE_MS) this.#went.shift();
    const recent = this.#went.filter(({ atMs }) => atMs > nowMs - MINUTE_MS);
    for (const rank of [1, 2]) {
      if ((this.#classesSince.get(`${rank}`) ?? nowMs) > nowMs - MINUTE_MS) continue;
      const mine = recent.filter((each) => each.rank === rank).length;
      if (mine < recent.length / 10 - 1)
        this.violations.push(`tenth: class ${rank} had ${mine} of ${recent.length} in a minute`);
    }
  }
}

function noteSince(since: Map<string, number>, present: ReadonlySet<string>, nowMs: number): void {
  for (const key of since.keys()) if (!present.has(key)) since.delete(key);
  for (const key of present) if (!since.has(key)) since.set(key, nowMs);
}
