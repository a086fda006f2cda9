import type { Guardrail } from './guardrail.ts';

/** For tests: a guardrail that is bound to everything, asked before dispatch, and speaks the language of `custom-http`. */
export function guardrail(id: string, over: Partial<Guardrail> = {}): Guardrail {
  return {
    id,
    slug: id,
    priority: 100,
    baseUrl: `https://${id}.example.com/judge`,
    httpMethod: 'POST',
    authMode: 'none',
    secretHeaderName: null,
    secret: null,
    timeoutMs: 1_000,
    preDispatch: true,
    postResponse: false,
    failureMode: 'fail_closed',
    template: { text: '{{text}}', stage: '{{stage}}' },
    rules: [
      { path: '$.verdict', operator: 'equals', value: 'block', action: 'block' },
      { path: '$.verdict', operator: 'equals', value: 'flag', action: 'log' },
      { path: '$.verdict', operator: 'equals', value: 'allow', action: 'allow' },
    ],
    maxRequestBytes: 1_048_576,
    maxResponseBytes: 1_048_576,
    bindings: [{ targetType: 'global', targetId: null }],
    ...over,
  };
}
