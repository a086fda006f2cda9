import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorPageHtml, errorPageMarkdown } from './error-page.ts';
import { accessErrors } from './errors/access-errors.ts';
import { capacityErrors } from './errors/capacity-errors.ts';
import { requestErrors } from './errors/request-errors.ts';
import { serviceErrors } from './errors/service-errors.ts';
import { upstreamErrors } from './errors/upstream-errors.ts';
import { errorCodes, errors, isErrorCode } from './errors.ts';
import { allRoutes } from './routes.ts';

/** Codes without a route: the router and the listener return them before a route is known. */
const routerCodes = ['route_not_found', 'method_not_allowed', 'upgrade_required'];

describe('the error registry', () => {
  it('has a status, a type and whole sentences for every code', () => {
    for (const code of errorCodes) {
      const { status, type, message, why, fix } = errors[code];
      assert.ok(status >= 400 && status <= 599, code);
      assert.match(type, /^[a-z_]+$/, code);
      for (const text of [message, why, fix]) assert.match(text, /^.{20,}[.]$/s, `${code}: ${text}`);
    }
  });

  it('is listed by some route, code by code', () => {
    const listed = new Set<string>([...allRoutes.flatMap((route) => route.errors), ...routerCodes]);
    assert.deepEqual(
      errorCodes.filter((code) => !listed.has(code)),
      [],
    );
  });

  it('gives the types that are fixed', () => {
    const fixed = {
      rate_limit_wait_budget_exceeded: [429, 'rate_limit_wait_budget_exceeded'],
      budget_exhausted: [429, 'rate_limit_wait_budget_exceeded'],
      request_exceeds_limit: [429, 'request_exceeds_limit'],
      queue_full: [429, 'queue_full'],
      guardrail_streaming_unsupported: [400, 'guardrail_streaming_unsupported'],
      guardrail_route_kind_unsupported: [400, 'guardrail_route_kind_unsupported'],
      content_policy_violation: [403, 'content_policy_violation'],
      guardrail_unavailable: [503, 'guardrail_unavailable'],
      policy_unavailable: [503, 'policy_unavailable'],
      metering_unavailable: [503, 'metering_unavailable'],
      draining: [503, 'draining'],
    } as const;
    for (const [code, [status, type]] of Object.entries(fixed)) {
      assert.ok(isErrorCode(code));
      assert.deepEqual([errors[code].status, errors[code].type], [status, type], code);
    }
  });

  it('recommends a retry only for errors of capacity, providers and services that can pass, and never for what a person must change', () => {
    const helps = errorCodes.filter((code) => errors[code].retry);
    for (const code of helps) {
      assert.ok(
        errors[code].status === 408 || errors[code].status === 429 || errors[code].status >= 500,
        code,
      );
      assert.match(errors[code].fix, /retry|again/i, code);
    }
    // A 503 has Retry-After.
    for (const code of errorCodes) if (errors[code].status === 503) assert.ok(errors[code].retry, code);
    for (const code of errorCodes)
      if (errors[code].owner === 'client' || errors[code].owner === 'config')
        assert.ok(!errors[code].retry || code === 'request_timeout', code);
  });

  it('has every code in one part only', () => {
    const parts = [requestErrors, accessErrors, capacityErrors, upstreamErrors, serviceErrors];
    const codes = parts.flatMap((part) => Object.keys(part));
    assert.equal(new Set(codes).size, codes.length);
    assert.equal(codes.length, errorCodes.length);
  });

  it('knows its codes and nothing else', () => {
    assert.equal(isErrorCode('invalid_json'), true);
    assert.equal(isErrorCode('toString'), false);
  });
});

describe('error pages', () => {
  it('say what, why and what to do for every code', () => {
    for (const code of errorCodes) {
      const page = errorPageMarkdown(code);
      for (const text of [code, errors[code].message, errors[code].why, errors[code].fix]) {
        assert.ok(page.includes(text), `${code} lacks: ${text}`);
      }
    }
  });

  it('speak of the caller’s key only where a key was sent', () => {
    const ofKeys = errorCodes.filter((code) =>
      /\b(this|the|the API) key\b/i.test(`${errors[code].message} ${errors[code].fix}`),
    );
    assert.deepEqual(
      ofKeys.filter((code) => !/key|scope/.test(code)),
      [],
    );
  });

  it('escape markup as HTML and load nothing from outside', () => {
    const page = errorPageHtml('missing_api_key');
    assert.ok(page.includes('<code>Authorization: Bearer &lt;API_KEY&gt;</code>'));
    assert.ok(page.includes('<code>Authorization</code>'));
    for (const code of errorCodes) assert.doesNotMatch(errorPageHtml(code), /<script|src=|href=/);
  });
});
