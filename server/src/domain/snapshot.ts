import type { LimitMetric, LimitPeriod, RouteKind, WireProtocol } from '@relay/contract';
import type { Secret } from '../kit/secret.ts';
import type { PlanName, RoleName } from './access.ts';
import type { Guardrail } from './guardrails/guardrail.ts';
import type { AuthMode } from './upstream-auth.ts';

/**
 * Everything a gateway needs to know of one organization to serve its requests, held in memory. The store builds it from one
 * consistent read and replaces it as a whole, so that a request sees a single version from its first step to its last.
 */
export interface OrganizationSnapshot {
  readonly organizationId: string;
  /** Of the database that it was read from; absent where it serves no requests. */
  readonly deploymentId?: string;
  /** Increases with every configuration change of the organization; equal versions have equal contents, but for prices that began by date. */
  readonly version: number;
  readonly plan: PlanName;
  /** By user id. A key or session whose user is missing here grants nothing. */
  readonly members: ReadonlyMap<string, Member>;
  /** Budgets of members that are in force, by user id, each list ordered by id. */
  readonly userPolicies: ReadonlyMap<string, readonly BudgetPolicy[]>;
  readonly teams: ReadonlyMap<string, Team>;
  /** Budgets of teams that are in force, by team id, each list ordered by id. */
  readonly teamPolicies: ReadonlyMap<string, readonly BudgetPolicy[]>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly lanes: ReadonlyMap<string, Lane>;
  /** Enabled or not, ordered by lane, then `manualRank`, then id. */
  readonly memberships: readonly Membership[];
  readonly credentials: ReadonlyMap<string, Credential>;
  /** By endpoint id; an endpoint without a price is absent. */
  readonly pricing: ReadonlyMap<string, Pricing>;
  /** When the next scheduled price begins; null or omitted: none is scheduled. */
  readonly pricesChangeAtMs?: number | null;
  /** Those in force, ordered by id. */
  readonly limitPolicies: readonly LimitPolicy[];
  /** Those that are enabled and bound, in the order in which they are asked. */
  readonly guardrails: readonly Guardrail[];
}

export interface Member {
  readonly userId: string;
  readonly role: RoleName;
  readonly status: 'active' | 'suspended';
  /** Null or left out: none. */
  readonly teamId?: string | null;
}

export interface Team {
  readonly id: string;
  /** Null for none. A parent has no parent itself. */
  readonly parentId: string | null;
}

/** What a provider adds to every request, and the preset whose quirks it has. */
export interface ProviderExtras {
  readonly presetSlug: string | null;
  /** Null for none. */
  readonly extraHeaders: Readonly<Record<string, string>> | null;
  readonly extraQuery: Readonly<Record<string, string>> | null;
}

export interface Provider extends ProviderExtras {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly baseUrl: string;
  readonly authMode: AuthMode;
  readonly authHeaderName: string | null;
  /** Null for what the base URL says. */
  readonly awsRegion: string | null;
  readonly awsService: string | null;
  readonly maxLatencyMs: number | null;
  readonly healthProbe: 'off' | 'models' | 'request';
  readonly enabled: boolean;
}

export interface Endpoint {
  readonly id: string;
  readonly providerId: string;
  /** Null for the provider's oldest enabled credential. */
  readonly credentialId: string | null;
  readonly name: string;
  readonly slug: string;
  readonly upstreamModel: string;
  readonly routeKind: RouteKind;
  /** What its provider speaks. */
  readonly protocol: WireProtocol;
  readonly supportsStreaming: boolean;
  readonly pacing: boolean;
  readonly maxConcurrency: number | null;
  readonly contextWindow: number | null;
  readonly maxLatencyMs: number;
  readonly enabled: boolean;
  readonly createdAtMs: number;
}

export type LaneSelection = 'preferred' | 'soonest';
/** Who goes first where requests of several lanes wait for the same limit. */
export type LanePriority = 'interactive' | 'standard' | 'batch';

export interface Lane {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly defaultMaxWaitMs: number;
  readonly allowFallback: boolean;
  readonly holdMs: number;
  readonly selection: LaneSelection;
  readonly priority: LanePriority;
  readonly hidden: boolean;
  readonly enabled: boolean;
}

export interface Membership {
  readonly id: string;
  readonly laneId: string;
  readonly endpointId: string;
  readonly manualRank: number;
  readonly enabled: boolean;
}

export interface Credential {
  readonly id: string;
  readonly providerId: string;
  readonly enabled: boolean;
  readonly createdAtMs: number;
  /** Null when no configured master key opens the stored secret. */
  readonly secret: Secret | null;
}

/** All prices are in micro-USD. Null or left out: a part of the input or output costs what the rest of it costs. */
export interface Prices {
  readonly inputCostMicrosPer1mTokens: number;
  readonly outputCostMicrosPer1mTokens: number;
  readonly cachedInputCostMicrosPer1mTokens: number | null;
  readonly cacheWrite5mCostMicrosPer1mTokens?: number | null;
  /** Null or left out: as for 5 minutes. */
  readonly cacheWrite1hCostMicrosPer1mTokens?: number | null;
  readonly audioInputCostMicrosPer1mTokens?: number | null;
  readonly imageInputCostMicrosPer1mTokens?: number | null;
  readonly reasoningCostMicrosPer1mTokens?: number | null;
  readonly audioOutputCostMicrosPer1mTokens?: number | null;
  readonly imageOutputCostMicrosPer1mTokens?: number | null;
  readonly flatRequestCostMicros: number;
}

/** Other prices for requests of one service tier, or with much input. */
export interface PriceVariant extends Partial<Prices> {
  readonly serviceTier?: string;
  readonly aboveInputTokens?: number;
}

export interface Pricing extends Prices {
  /** Where several apply, the later ones count. */
  readonly variants?: readonly PriceVariant[];
}

export type LimitScopeType = 'global' | 'provider' | 'credential' | 'endpoint' | 'lane';

export interface LimitPolicy {
  readonly id: string;
  readonly scopeType: LimitScopeType;
  /** Null for `global`. */
  readonly scopeId: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  /** Micro-USD for `spend`. */
  readonly limitValue: number;
  /** Whether a limit on spend lets requests pass to endpoints without a price. Left out: `refuse`. */
  readonly unpriced?: UnpricedRule;
  /** Whether requests reserve what they are expected to use, or the most that they can. Left out: `estimate`. */
  readonly enforcement?: Enforcement;
  /** How often its counter was restarted: it was enabled again, or what it counts changed. Left out: never. */
  readonly counter?: number;
  readonly enabled: boolean;
}

export type UnpricedRule = 'refuse' | 'allow';
export type Enforcement = 'estimate' | 'hard';

export type BudgetTargetType = 'global' | 'provider' | 'model' | 'lane';

/** A limit on one member, key or team with the teams below it: on everything they send, or on requests to one provider, endpoint or lane. */
export interface BudgetPolicy {
  readonly id: string;
  readonly kind: 'user' | 'api_key' | 'team';
  /** The user, the key or the team. */
  readonly subjectId: string;
  readonly targetType: BudgetTargetType;
  /** Null for `global`; an endpoint's id for `model`. */
  readonly targetId: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  readonly limitValue: number;
  /** As in `LimitPolicy`. */
  readonly unpriced?: UnpricedRule;
  readonly enforcement?: Enforcement;
  /** How often its counter was restarted: it was enabled again, or what it counts changed. Left out: never. */
  readonly counter?: number;
}
