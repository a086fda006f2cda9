import { dataOf } from '../api/client.ts';
import { limitWords } from '../output/limit-words.ts';
import { healthFindings } from './check-upstreams.ts';
import { type Check, type Finding, fail, named, ok, warn } from './finding.ts';

const LANES_EXPLAINED_MAX = 20;

/** Endpoints that fail, and those without a price: their usage counts toward no spend and no budget. */
export const checkEndpoints: Check = async ({ api, surroundings }) => {
  const all = (await dataOf(api.management.GET('/api/relay/endpoints'))).filter(({ enabled }) => enabled);
  if (all.length === 0) {
    return [
      warn(
        'endpoints',
        'No endpoint is enabled.',
        'Create one from the provider’s model list. Run: `relay endpoints import`',
      ),
    ];
  }
  const prices = await dataOf(api.management.GET('/api/relay/pricing-policies'));
  const priced = new Set(prices.map(({ endpoint_id }) => endpoint_id));
  const unpriced = all.filter(({ id }) => !priced.has(id));
  const findings: Finding[] = [];
  if (unpriced.length > 0) {
    findings.push(
      warn(
        'endpoints',
        `No price: ${named(unpriced.map(({ slug }) => slug))}. Requests without a price don't count toward spend.`,
        `Run: \`relay endpoints set-price ${unpriced[0]?.slug} --input-price DOLLARS --output-price DOLLARS\``,
      ),
    );
  }
  if (findings.length === 0) findings.push(ok('endpoints', `All endpoints have a price (${all.length}).`));
  return [...findings, ...healthFindings('endpoints', all, surroundings.nowMs())];
};

/** Lanes that would reject a small request now. */
export const checkLanes: Check = async ({ api }) => {
  const all = (await dataOf(api.management.GET('/api/relay/routing-lanes'))).filter(({ enabled }) => enabled);
  if (all.length === 0)
    return [warn('lanes', 'No lane is enabled.', 'Run: `relay lanes create --name NAME`')];
  const memberships = await dataOf(api.management.GET('/api/relay/lane-memberships'));
  const served = new Set(memberships.filter(({ enabled }) => enabled).map(({ lane_id }) => lane_id));
  const findings: Finding[] = all
    .filter(({ id }) => !served.has(id))
    .map(({ name, slug }) =>
      fail('lanes', `Lane ${name} has no endpoints.`, `Run: \`relay lanes endpoints add ${slug} ENDPOINT\``),
    );
  const explained = all.filter(({ id }) => served.has(id)).slice(0, LANES_EXPLAINED_MAX);
  for (const { name, slug } of explained) {
    const body = { model: slug, messages: [{ role: 'user', content: 'Hello' }] };
    const found = await dataOf(
      api.management.POST('/api/relay/routing/explain', { body: { operation: 'chat', body } }),
    );
    // A lane with embeddings only rejects chat requests by design.
    const isOfOtherKind = found.candidates.every(
      ({ verdict }) => verdict === 'incompatible' || verdict === 'disabled',
    );
    if (found.outcome === 'refuse' && !isOfOtherKind) {
      findings.push(
        warn(
          'lanes',
          `Lane ${name} would reject a small chat request now: ${found.reason ?? found.error_code}`,
          `Run: \`relay explain ${slug}\``,
        ),
      );
    }
  }
  if (findings.length > 0) return findings;
  return [
    explained.length === all.length
      ? ok('lanes', `All lanes accept requests (${all.length}).`)
      : ok(
          'lanes',
          `All lanes have endpoints; the first ${explained.length} of ${all.length} accept requests.`,
        ),
  ];
};

/** Limits that no request can pass, and exhausted ones. */
export const checkLimits: Check = async ({ api }) => {
  const { mode } = await dataOf(api.management.GET('/api/relay/capabilities'));
  const findings: Finding[] = [];
  if (mode === 'self_hosted') {
    const policies = await dataOf(api.management.GET('/api/relay/limit-policies'));
    for (const policy of policies.filter(({ enabled }) => enabled)) {
      if (policy.limit_value === 0) {
        findings.push(
          fail(
            'limits',
            `The ${limitWords({ ...policy, policy_kind: 'resource', limit: policy.limit_value })} rejects every request it applies to.`,
            `Raise it, or disable it with --no-enabled. Run: \`relay limits update ${policy.id} --limit-value N\``,
          ),
        );
      }
    }
  }
  const usage = await dataOf(api.management.GET('/api/relay/limits/usage'));
  for (const limit of usage) {
    if (limit.limit > 0 && limit.remaining === 0) {
      findings.push(
        warn(
          'limits',
          `The ${limitWords(limit)} has been reached.`,
          `Run: \`relay limits test ${limit.policy_id}\``,
        ),
      );
    }
  }
  return findings.length > 0
    ? findings
    : [ok('limits', usage.length === 0 ? 'No limits.' : `No limit has been reached (${usage.length}).`)];
};

/** Enabled guardrails that check nothing. */
export const checkGuardrails: Check = async ({ api }) => {
  const all = await dataOf(api.management.GET('/api/relay/guardrails'));
  const findings: Finding[] = [];
  for (const { name, slug, enabled, binding_count } of all) {
    if (enabled && binding_count === 0) {
      findings.push(
        warn(
          'guardrails',
          `Guardrail ${name} is not bound. No requests are checked.`,
          `Run: \`relay guardrails bind ${slug} --global\``,
        ),
      );
    }
    if (!enabled && binding_count > 0) {
      findings.push(
        warn(
          'guardrails',
          `Guardrail ${name} is bound but disabled.`,
          `Run: \`relay guardrails update ${slug} --enabled\``,
        ),
      );
    }
  }
  return findings.length > 0
    ? findings
    : [
        ok(
          'guardrails',
          all.length === 0 ? 'No guardrails.' : `All guardrails are enabled and bound (${all.length}).`,
        ),
      ];
};
