export { awsVectors, VECTOR_HOST, VECTOR_KEYS, VECTOR_MS, VECTOR_SCOPE } from './aws-vectors.ts';
export { type ContextSetup, launchChromium, openContext, type Theme } from './chromium.ts';
export { freePort } from './free-port.ts';
export { emptyDatabase, type FreshDatabase, freshDatabase } from './fresh-database.ts';
export { idleMs, stolenMs } from './machine.ts';
export { type PgBouncer, startPgBouncer } from './pg-bouncer.ts';
export { type PrivateNats, startNats } from './private-nats.ts';
export { type PrivatePostgres, startPostgres } from './private-postgres.ts';
export { type PrivateRedis, startRedis } from './private-redis.ts';
export { type RedisReply, redisCall, redisCalls, redisKeys } from './redis-client.ts';
export { type RedisCluster, startRedisCluster } from './redis-cluster.ts';
export { anySeed, runCommand, UsageError, wholeNumber } from './run-command.ts';
export { type SelfHostedEnvironment, selfHostedEnvironment } from './self-hosted-environment.ts';
export { selfSigned } from './self-signed.ts';
export { type MadeAccount, makeServiceAccount } from './service-account.ts';
export type { SmallDisk } from './small-disk.ts';
export { startTcpProxy, type TcpProxy, type Way } from './tcp-proxy.ts';
export {
  type Running,
  type SchedulerWatch,
  TimeBoundError,
  watchScheduler,
  within,
} from './within.ts';
