import type { Name, Site } from './site.ts';

/** Who must tell an operator about an incident, and in which words. */
export interface Tells {
  /** Every one of these fires. */
  readonly alerts?: readonly string[];
  /** What `/healthz` of these processes says; `unreachable` where it answers nothing. */
  readonly healthz?: Partial<Readonly<Record<Name, RegExp>>>;
  /** What `/readyz` of these processes says, as `status body`. */
  readonly readyz?: Partial<Readonly<Record<Name, RegExp>>>;
  /** A finding of `relay doctor` that is not `ok`: its message and its fix. */
  readonly doctor?: RegExp;
  /** What the statistics behind Home say. */
  readonly home?: RegExp;
  /** What a process says that refuses to start. */
  readonly refusal?: RegExp;
  /** A line in the log of some process, written during the incident. */
  readonly log?: RegExp;
}

export interface Broken {
  /** Makes it good again. */
  heals(): Promise<unknown>;
  /** What a process said that refused to start. */
  readonly refusal?: string;
}

export interface Incident {
  readonly name: string;
  /** Makes it happen. */
  readonly breaks: (site: Site) => Promise<Broken>;
  /** How clients may be affected: `status code` of each request that is not served. Absent: not at all. */
  readonly clients?: RegExp;
  readonly tells: Tells;
  /** Alerts that may fire as well. */
  readonly may?: readonly string[];
  /** Words that would be wrong, in `/healthz` and in doctor's findings. */
  readonly never?: readonly RegExp[];
  /** Lanes that get the load meanwhile. */
  readonly lanes?: readonly string[];
  /** How long it lasts at least. */
  readonly lastsMs?: number;
  /** Rows that may be missing, where a document says so. */
  readonly mayLose?: string;
}

const BURNS = ['RelayAvailabilityFastBurn', 'RelayAvailabilitySlowBurn'] as const;
/** These look back for longer than an incident lasts; a limit that was deleted counts as reached until its window ends. */
export const REMEMBER: readonly string[] = [...BURNS, 'RelayUsageImplausible', 'RelayLimitNearlyReached'];
/** What fires when most requests of a lane, or of all, fail. */
export const FAILING = [...BURNS, 'RelayLaneFailing', 'RelayLaneUnserved', 'RelayGatewayFailing'] as const;
/** What may fire while a process is away or starts: the machine is busy. */
export const STARTING = [
  'RelayProcessDown',
  'RelayEventLoopDelay',
  'RelayOverheadFastBurn',
  'RelayOverheadSlowBurn',
  'RelayConfigurationStale',
  'RelayRedisScriptSlow',
] as const;
