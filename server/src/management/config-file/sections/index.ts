import type { Deployment } from '../../deps.ts';
import { credentialSection } from './credentials.ts';
import { endpointSection } from './endpoints.ts';
import { guardrailBindingSection } from './guardrail-bindings.ts';
import { guardrailSection } from './guardrails.ts';
import { laneSection } from './lanes.ts';
import { limitPolicySection } from './limit-policies.ts';
import { membershipSection } from './memberships.ts';
import { pricingPolicySection } from './pricing-policies.ts';
import { providerSection } from './providers.ts';
import type { Section } from './section.ts';

/** Every section, each after those whose items it names. */
export const allSections: readonly Section[] = [
  providerSection,
  credentialSection,
  endpointSection,
  laneSection,
  membershipSection,
  pricingPolicySection,
  limitPolicySection,
  guardrailSection,
  guardrailBindingSection,
];

/** Resource limit policies are for self-hosted deployments; elsewhere the file neither has nor touches them. */
export function sectionsOf({ mode }: Pick<Deployment, 'mode'>): readonly Section[] {
  return mode === 'hosted' ? allSections.filter(({ name }) => name !== 'limit_policies') : allSections;
}
