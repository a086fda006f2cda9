import { dataOf } from '../api/client.ts';
import { healthFindings } from './check-upstreams.ts';
import { type Check, type Finding, fail, named, ok, warn } from './finding.ts';

const LANES_EXPLAINED_MAX = 20;

/** Providers without a credential or with failures. */
export const checkProviders: Check = async ({ api, surroundings }) => {
  const all = (await dataOf(api.management.GET('/api/relay/providers'))).filter(({ enabled }) => enabled);
  if (all.length === 0) {
    return [
      warn(
        'providers',
        'There is no enabled provider.',
        'run `relay providers create --name NAME --base-url URL`',
      ),
    ];
  }
  const findings: Finding[] = all
    .filter(({ auth_mode, has_credential }) => auth_mode !== 'none' && !has_credential)
    .map(({ name, slug }) =>
      fail(
        'providers',
        `${name} has no credential.`,
        `run \`relay providers set-credential ${slug} --secret-stdin\``,
      ),
    );
  if (findings.length === 0) {
    findings.push(ok('providers', `Every provider has what it needs (${all.length}).`));
  }
  return [...findings, ...healthFindings('providers', all, surroundings.nowMs())];
};

/** Endpoints that fail, and those without a price: their usage counts toward no spend and no budget. */
export const checkEndpoints: Check = async ({ api, surroundings }) => {
  const all = (await dataOf(api.management.GET('/api/relay/endpoints'))).filter(({ enabled }) => enabled);
  if (all.length === 0) {
    return [
      warn(
        'endpoints',
        'There is no enabled endpoint.',
        'run `relay endpoints create --provider NAME --name NAME --upstream-model MODEL --route-kind multi`',
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
        `No price is known for ${named(unpriced.map(({ slug }) => slug))}; their use counts as no spend.`,
        `run \`relay endpoints set-price ${unpriced[0]?.slug} --input-cost-micros-per-1m-tokens N --output-cost-micros-per-1m-tokens N\``,
      ),
    );
  }
  if (findings.length === 0) findings.push(ok('endpoints', `Every endpoint is priced (${all.length}).`));
  return [...findings, ...healthFindings('endpoints', all, surroundings.nowMs())];
};

/** Lanes that would reject a small request now. */
export const checkLanes: Check = async ({ api }) => {
  const all = (await dataOf(api.management.GET('/api/relay/routing-lanes'))).filter(({ enabled }) => enabled);
  if (all.length === 0)
    return [warn('lanes', 'There is no enabled lane.', 'run `relay lanes create --name NAME`')];
  const memberships = await dataOf(api.management.GET('/api/relay/lane-memberships'));
  const served = new Set(memberships.filter(({ enabled }) => enabled).map(({ lane_id }) => lane_id));
  const findings: Finding[] = all
    .filter(({ id }) => !served.has(id))
    .map(({ name, slug }) =>
      fail('lanes', `${name} has no members.`, `run \`relay lanes members add ${slug} ENDPOINT\``),
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
          `${name} would refuse a small chat now: ${found.reason ?? found.error_code}`,
          `run \`relay explain ${slug}\``,
        ),
      );
    }
  }
  if (findings.length > 0) return findings;
  return [
    explained.length === all.length
      ? ok('lanes', `Every lane takes requests (${all.length}).`)
      : ok(
          'lanes',
          `Every lane has members, and the first ${explained.length} of ${all.length} take requests.`,
        ),
  ];
};

/** Limits that no request can pass, and exhausted ones. */
export const checkLimits: Check = async ({ api }) => {
  const { mode } = await dataOf(api.management.GET('/api/relay/capabilities'));
  const findings: Finding[] = [];
  if (mode === 'self_hosted') {
    const policies = await dataOf(api.management.GET('/api/relay/limit-policies'));
    for (const { id, metric, period, scope_type, limit_value } of policies.filter(({ enabled }) => enabled)) {
      if (limit_value === 0) {
        findings.push(
          fail(
            'limits',
            `The limit of ${metric} each ${period} on ${scope_type} is 0: it refuses every request.`,
            `run \`relay limits update ${id} --limit-value N\`, or --no-enabled`,
          ),
        );
      }
    }
  }
  const usage = await dataOf(api.management.GET('/api/relay/limits/usage'));
  for (const { policy_id, metric, period, scope_type, limit, remaining } of usage) {
    if (limit > 0 && remaining === 0) {
      findings.push(
        warn(
          'limits',
          `The limit of ${metric} each ${period} on ${scope_type} has no room left.`,
          `run \`relay limits test ${policy_id}\``,
        ),
      );
    }
  }
  return findings.length > 0
    ? findings
    : [ok('limits', usage.length === 0 ? 'There are no limits.' : `Every limit has room (${usage.length}).`)];
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
          `${name} is enabled and bound to nothing.`,
          `run \`relay guardrails bind ${slug} --global\``,
        ),
      );
    }
    if (!enabled && binding_count > 0) {
      findings.push(
        warn(
          'guardrails',
          `${name} is bound and not enabled.`,
          `run \`relay guardrails update ${slug} --enabled\``,
        ),
      );
    }
  }
  return findings.length > 0
    ? findings
    : [
        ok(
          'guardrails',
          all.length === 0 ? 'There are no guardrails.' : `Every guardrail is in force (${all.length}).`,
        ),
      ];
};
