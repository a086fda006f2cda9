/**
 * What a stored secret is bound to: the organization, the provider or guardrail that owns it, and its version. A row copied
 * to another organization or provider, or an older secret put back, does not open.
 */
export function secretBinding(place: {
  organizationId: string;
  /** The provider of a credential, or the guardrail. */
  ownerId: string;
  secretVersion: number;
}): string[] {
  return [place.organizationId, place.ownerId, String(place.secretVersion)];
}
