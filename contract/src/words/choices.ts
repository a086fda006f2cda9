/** Lists of the wire that commands and filters offer as choices. Here they load without the schemas. */
export const operations = ['chat', 'responses', 'embeddings', 'messages', 'count_tokens'] as const;

/** The wire protocols that an endpoint's provider may speak. */
export const wireProtocols = ['openai', 'anthropic'] as const;

/** How a request ended. */
export const requestStates = ['completed', 'failed', 'cancelled'] as const;

export const guardrailVerdicts = ['allowed', 'flagged', 'replaced', 'blocked', 'unavailable'] as const;

export const healthStates = ['unknown', 'healthy', 'degraded', 'down', 'rate_limited'] as const;

/** What mends a cause of failures. */
export const failureActions = [
  'raise_limit',
  'set_price',
  'replace_credential',
  'edit_provider',
  'test_provider',
  'edit_endpoint',
  'add_candidate',
  'create_lane',
  'edit_guardrail',
  'check_deployment',
] as const;

/** What an action applies to. */
export const failureResources = ['limit', 'endpoint', 'provider', 'lane', 'guardrail', 'model'] as const;
