-- What the audit log is searched by. Each index ends in the id, so that a search, too, is read newest first and
-- stops at the end of its page, however rare or frequent the value is.
create index audit_log_by_actor_user on audit_log (organization_id, actor_user_id, id) where actor_user_id is not null;
create index audit_log_by_actor_key on audit_log (organization_id, actor_key_id, id) where actor_key_id is not null;
create index audit_log_by_action on audit_log (organization_id, action, id);
create index audit_log_by_target_type on audit_log (organization_id, target_type, id);
create index audit_log_by_target on audit_log (organization_id, target_id, id) where target_id is not null;
