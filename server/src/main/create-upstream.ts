import { type AskGuardrail, createAskGuardrail } from '../guardrails/ask-guardrail.ts';
import { createTypicalUse, type TypicalUse } from '../inference/settle/typical-use.ts';
import { createEgress, type Egress } from '../kit/egress/index.ts';
import { createUpstreamAuth, type UpstreamAuth } from '../protocols/upstream-auth/create-upstream-auth.ts';
import type { Runtime } from './runtime.ts';

const ORIGINS_MAX = 1_000;

/** What the process uses to call providers and guardrails, and what it learns from their responses. */
export interface Upstream {
  readonly egress: Egress;
  /** A separate egress for one connection test; the caller closes it. */
  readonly openEgress: () => Egress;
  readonly upstreamAuth: UpstreamAuth;
  readonly askGuardrail: AskGuardrail;
  readonly typicalUse: TypicalUse;
}

export function createUpstream({ environment, clock, log }: Runtime): Upstream {
  const openEgress = () =>
    createEgress({
      allowedCidrs: environment.RELAY_ALLOW_PRIVATE_NETWORKS,
      connectTimeoutMs: environment.RELAY_UPSTREAM_CONNECT_TIMEOUT_MS,
      connectionsPerOriginMax: environment.RELAY_UPSTREAM_CONNECTIONS_MAX,
      shared: environment.RELAY_MODE === 'hosted',
      originsMax: ORIGINS_MAX,
    });
  const egress = openEgress();
  return {
    egress,
    openEgress,
    upstreamAuth: createUpstreamAuth({ clock, egress, random: Math.random }),
    askGuardrail: createAskGuardrail({ egress, clock, log }),
    typicalUse: createTypicalUse(clock),
  };
}
