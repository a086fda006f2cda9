export {
  type AwsVector,
  awsVectors,
  VECTOR_HOST,
  VECTOR_KEYS,
  VECTOR_MS,
  VECTOR_SCOPE,
} from './aws-vectors.ts';
export { type ContextSetup, launchChromium, openContext, type Theme } from './chromium.ts';
export { freePort } from './free-port.ts';
export { type FreshDatabase, freshDatabase } from './fresh-database.ts';
export { untilCalm, watchStolenTime } from './machine.ts';
export { type PrivatePostgres, startPostgres } from './private-postgres.ts';
export { type PrivateRedis, startRedis } from './private-redis.ts';
export { type RedisReply, redisCall, redisCalls, redisKeys } from './redis-client.ts';
export { type RedisCluster, startRedisCluster } from './redis-cluster.ts';
export { type SelfHostedEnvironment, selfHostedEnvironment } from './self-hosted-environment.ts';
export { selfSigned } from './self-signed.ts';
export { startTcpProxy, type TcpProxy, type Way } from './tcp-proxy.ts';
