-- One owner for each resource: what the configuration file names is changed by the file alone.

do $$
declare
  configured text;
begin
  foreach configured in array array[
    'providers', 'credentials', 'endpoints', 'lanes', 'lane_memberships', 'guardrails', 'guardrail_bindings',
    'pricing_policies', 'limit_policies'
  ] loop
    execute format('alter table %I add column managed_by text check (managed_by in (''file''))', configured);
  end loop;
end $$;

-- Where whoever applies the file finds the secret, such as env:OPENAI_KEY. Never the secret.
alter table credentials add column secret_ref text check (length(secret_ref) between 1 and 500);

-- In the file a credential is known by its provider and its name. Where two share a name, the younger ones are told
-- apart by their ids.
update credentials set name = left(credentials.name, 160) || ' ' || credentials.id
from (
  select organization_id, id, row_number() over (partition by organization_id, provider_id, name order by id) as place
  from credentials
) as named
where credentials.organization_id = named.organization_id and credentials.id = named.id and named.place > 1;
create unique index credentials_by_name on credentials (organization_id, provider_id, name);

drop trigger touch_credentials on credentials;
create trigger touch_credentials before update of name, enabled, secret_version, secret_ref, managed_by on credentials
  for each row execute function touch_row();
drop trigger touch_guardrails on guardrails;
create trigger touch_guardrails
  before update of name, slug, preset_slug, base_url, http_method, auth_mode, secret_header_name, secret_version,
    priority, timeout_ms, pre_dispatch_enabled, post_response_enabled, failure_mode, request_template,
    response_rules, max_request_bytes, max_response_bytes, enabled, managed_by
  on guardrails for each row execute function touch_row();
