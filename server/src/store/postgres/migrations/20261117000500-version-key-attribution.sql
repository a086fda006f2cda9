-- The team and the labels of a key are edits too: without a new version, If-Match lets a later change overwrite them.
drop trigger touch_api_keys on api_keys;
create trigger touch_api_keys before update of name, expires_at, revoked_at, team_id, labels on api_keys
  for each row execute function touch_row();
