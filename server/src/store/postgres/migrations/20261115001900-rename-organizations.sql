-- Owners and admins rename their organization. Row-level security already confines the update to their own.
grant update (name) on organizations to relay_app;
