/** Sentences and rows of the specification that are not tables of fields or routes, quoted, by where they stand. */
export const specRules = {
  '1.1':
    'The service is a gateway that accepts provider-compatible inference requests and forwards each to a configured upstream model endpoint. Only provider-compatible upstream behavior is implemented; no broader provider compatibility is guaranteed.',
  '1.2':
    "The `model` value in an inference request is rewritten by the gateway to the selected endpoint's configured upstream model.",
  '1.3':
    'Candidate endpoints are chosen from enabled candidates by scheduling, limits, and a wait budget. Fallback to another candidate is possible (response header X-Relay-Fallback-Count reports the count). A request may wait for capacity within the wait budget of its routing lane (also called a group).',
  '1.4':
    'Streaming (server-sent events) is supported for compatible request/endpoint combinations. A committed stream cannot be transparently restarted or replaced.',
  '1.5':
    'Guardrails: effective HTTP guardrails support non-streaming chat and responses requests only. A guarded streaming request, or a guarded embeddings request, is rejected.',
  '1.6':
    'Management operations (API-key managing, provider/lane/membership/guardrail configuration, limit policies, stats, billing history) are served at {api_origin}.',
  '1.7':
    'Hosted traffic: an outer platform layer authenticates the browser session or User API key, resolves organization/user identity and relay permissions, strips untrusted client context headers, signs a short-lived internal context, and forwards to the inference service. Browsers and external API clients must not call the internal inference service directly.',
  '1.8':
    'Metering metadata: safe numeric values (selected provider/model identifiers, wait time, token estimates, reported token totals, configured cost when available) may be passed to trusted upstream control planes. They never include prompts, response bodies, provider credentials, admin tokens, or cookies.',
  '1.9':
    'Self-hosted deployments use one deployment-wide token (RELAY_API_TOKEN) for the gateway and a separate token (RELAY_ADMIN_TOKEN) for configuration management. Resource (provider/model) limit policies are available when self-hosting.',
  '2': 'All identifiers are opaque strings (<ID>). Timestamps are nullable (null when unset).',
  '2.2':
    'The secret is returned once, as `api_key` in the creation response, and is never revealed by list responses. The top-level field `api_key` is distinct from the `key` object.',
  '2.6':
    'A single-guardrail read returns `guardrail` (object above) and `bindings` (array; element fields: not shown). Further guardrail fields, and the fields of a guardrail binding: not shown.',
  '2.12 chat completion':
    '| chat completion | model (string), messages (array of objects with role string and content string) | additional fields follow the configured provider |',
  '2.12 response':
    '| response | model (string), input (string) | additional fields follow the configured provider |',
  '2.12 embeddings':
    '| embeddings | model (string), input (string) | additional fields follow the configured provider |',
  '2.12':
    'The `model` value names a routing call name (group) or model. Complete request schemas of these three operations beyond the fields above: not shown.',
  '2.13':
    'A list of upstream model identifiers for enabled configured endpoints. It is not a complete list of group call names and not a global provider catalog. The field layout of the list and its items: not shown.',
  '3 revoke':
    '| API key | active | DELETE {api_origin}/api/account/api-keys/<api_key_id> | caller holds permission and key is in permitted scope | revoked (stops new authentication) | other keys are unaffected; response 204 with no body; requests with the key then get 401 |',
  '3 rename':
    '| API key | any | PATCH {api_origin}/api/account/api-keys/<api_key_id> | body carries `name` | same state | only the name changes; scopes are immutable |',
  '3 enabled':
    '| Routing lane, membership, guardrail, provider | enabled true/false | PUT/POST with `enabled` | permitted | value of `enabled` as sent | guardrail creation yields enabled false |',
  '3': 'Request states counted by the stats summary are `completed`, `failed`, `cancelled`. Transitions between request states: not shown.',
  '4': 'All bodies are JSON (Content-Type application/json). All calls carry the Authorization header (see section 5).',
  '4.1': 'Request bodies are required on the three POST operations.',
  '4.1 streaming': 'For streaming, actual usage is not in headers; it is found in logs.',
  '4.2':
    'Path parameters (api_key_id, group_id, membership_id, guardrail_id, policy_id) are required strings taken from list or create responses.',
  '4.2 rule 1':
    'Creating a user or API-key budget returns no policy id; the id (limit_uuid) is obtained by listing.',
  '4.2 rule 2': 'Updating a user budget: POST with the existing `limit_uuid` and the new values.',
  '4.2 rule 3':
    'Updating an API-key budget: POST with the existing `limit_uuid`, the same key, target, metric and window, and the new value.',
  '4.2 rule 4': 'Policy bodies carry the public key id, never the secret.',
  '4.2 rule 5': 'Replacing a key creates a new id; policies of the old key do not transfer.',
  '4.2 rule 6':
    'Other management routes may exist beyond this list; the list is a subset. Any routes after the guardrail update, and request-body fields beyond those listed for the writes above: not shown.',
  '5.1':
    'Every operation requires the header `Authorization: Bearer <API_KEY>` with a User API key (security scheme name UserAPIKey). Browser cookies are not required for programmatic calls.',
  '5.2':
    "A key authenticates a workload as its owner. The effective access is the intersection of the key's scopes with the owner's current permissions, organization/resource ownership, and plan entitlements. Permission removals apply immediately; new grants require a new key.",
  '5.3':
    "Scopes named: `relay:request` (inference; required for the four gateway operations), `relay:providers:read`, `relay:providers:manage`, `cloud:account:manage` (required to manage one's own keys), `relay:limits:read:organization` (shared limit-policy reads), `relay:limits:manage` (limit-policy mutations). Creating a key with `relay:providers:manage` yields a key whose scopes list both `relay:providers:read` and `relay:providers:manage`.",
  '5.4': 'Key scopes are immutable after creation; create a replacement key for changed access.',
  '5.5':
    "A key cannot create another key with broader scopes than its own. Team delegation additionally requires a key carrying all of its owner's current permissions.",
  '5.6': 'Individual (user and key) limit reads respect self/organization visibility.',
  '5.7': 'Password/e-mail changes, browser logout, and staff APIs are not available with API keys.',
  '5.8': 'Users with the appropriate security permission can inspect and revoke organization keys.',
  '5.9':
    'Revoking a key stops new authentication with it without changing other keys. Use one key per application or agent for independent attribution and budgets.',
  '5.10':
    'The scope required by each management route other than those named in rule 3: not shown. Key secret format and how `expires_at` is set: not shown.',
  '6': 'Events (webhooks or notifications): not shown. Inference response metadata is carried in the headers listed in 4.1, and streaming responses are provider event-stream frames; neither is an event feed.',
  '7 400':
    '| 400 | inference | invalid request, route selection failure, or request incompatible with a guardrail (guarded streaming or guarded embeddings) |',
  '7 401': '| 401 | all | missing, invalid, expired, or revoked API key |',
  '7 403': '| 403 | all | product access, key scope, owner permission, or entitlement is absent |',
  '7 404': '| 404 | management | resource not found in the permitted scope |',
  '7 413': '| 413 | inference | request body exceeds the configured size limit |',
  '7 429': '| 429 | inference | no candidate fits the wait budget, or an unhandled provider throttle |',
  '7 502': '| 502 | inference | selected upstream could not be prepared or failed after bounded handling |',
  '7 503':
    '| 503 | inference, models | the service or required configuration is unavailable, or policy handling fails closed |',
  '7 other': '| other | inference | provider status and body may pass through unchanged |',
  '7 rule 1': 'A 429 may carry the header `Retry-After` (string, seconds) when the service returns it.',
  '7 rule 2':
    'A wait-budget 429 has a JSON body with an `error` object containing `type` (value `rate_limit_wait_budget_exceeded` occurs), `message` (string) and `retry_after` (integer seconds).',
  '7 rule 3': 'Gateway and upstream errors share no universal JSON schema.',
  '7 rule 4':
    'A model-list failure in deployment or data access returns a default error status (value: not shown). Error bodies and type codes other than the wait-budget one: not shown.',
  '8.1': 'Applicable limits combine; the tightest boundary wins.',
  '8.2':
    "Request wait: a request may wait for capacity within the routing lane's wait budget (default_max_wait_ms); when no candidate fits, the response is 429.",
  '8.3':
    'Spend limits use configured pricing, not a provider invoice. Request pacing spreads eligible short-window requests instead of releasing a burst.',
  '8.4':
    'Policy fields: scope_type (resource policies) or target_type (user and key policies); metric; period; limit_value (integer); enabled (boolean). Metric values in use: `requests`, `tokens`, and spend. Period values in use: `minute`, `day`. Hosted budgets support requests, tokens, and spend, targeted globally (`global`) or to a provider/model. The wire values for spend and for a provider/model target, and the full sets of allowed metric and period values: not shown.',
  '8.5': "User budgets cover that user's browser and key traffic. API-key budgets cover only that exact key.",
  '8.6':
    'Resource (provider/model) policies are for self-hosted deployments; hosted use is through user and key budgets.',
  '8.7':
    'Permissions: shared policy reads need `relay:limits:read:organization`; mutations need `relay:limits:manage`.',
  '8.8': 'Request-body size limit value, management-API rate limits, and any default wait value: not shown.',
  '9.1':
    'Inference routes live under the /v1 path prefix of {base_url}; management routes have no version prefix.',
  '9.2':
    'The machine-readable interface description is at version 1.0.0 and covers a documented subset of routes, not an exhaustive inventory.',
  '9.3': 'Management operations override the default /v1 server and use {api_origin}.',
  '9.4': 'Deprecation and compatibility policy for changes: not shown.',
} as const satisfies Record<string, string>;

export type SpecRuleId = keyof typeof specRules;

export const specRuleIds: readonly SpecRuleId[] = Object.keys(specRules).filter((id): id is SpecRuleId =>
  Object.hasOwn(specRules, id),
);

/** Section 5, rule 3. */
export const specScopes: readonly string[] = [
  'relay:request',
  'relay:providers:read',
  'relay:providers:manage',
  'cloud:account:manage',
  'relay:limits:read:organization',
  'relay:limits:manage',
];

/** Section 7: plane → error statuses. */
export const specErrorStatuses = {
  inference: [400, 401, 403, 413, 429, 502, 503],
  models: [401, 403, 503],
  management: [401, 403],
  managementWithId: [404],
} as const;
