export {
  type Environment,
  EnvironmentError,
  readEnvironment,
  type Variable,
  variables,
} from './environment.ts';
export { type MetricName, metricTable } from './metric-table.ts';
export { migrationCommands } from './migration-commands.ts';
export { type RoleName, roleNames } from './roles.ts';
export { type RunningServer, serve } from './serve.ts';
