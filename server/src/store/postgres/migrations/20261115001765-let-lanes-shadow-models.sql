-- Whether a lane may take the name of a model that an endpoint serves. Lanes that do so today keep working; the question is
-- asked when a lane is created or renamed.
alter table lanes add column shadows_model boolean not null default false;
