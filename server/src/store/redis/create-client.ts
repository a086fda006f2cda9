import { RedisClient } from '@redis/client';

/**
 * The package's `createClient` makes a class with all commands of Redis for each set of options. Our clients differ in options
 * that the class does not depend on.
 */
export const createClient = RedisClient.factory({});
