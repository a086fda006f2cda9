export { limitMetricsScript } from '../admission/redis/metrics-script.ts';
export { DirectoryInUseError } from '../store/embedded/data-directory-lock.ts';
export { type MovedRows, MoveRefusedError } from '../store/embedded/move/move-data.ts';
export { createPasswordReset, ResetRefusedError } from './create-password-reset.ts';
export {
  type Environment,
  EnvironmentError,
  readEnvironment,
  type Variable,
  type VariablePresence,
  variables,
} from './environment.ts';
export { type MetricName, metricTable } from './metric-table.ts';
export { migrationCommands } from './migration-commands.ts';
export { moveOut } from './move-out.ts';
export { replayRefusedUsage } from './replay-command.ts';
export { type RoleName, roleNames } from './roles.ts';
export { type RunningServer, serve } from './serve.ts';
export { type StartedServer, start } from './start.ts';
export { SecretsError } from './start-secrets.ts';
