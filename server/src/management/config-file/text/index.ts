// What the CLI needs of the configuration file. Loads no server code and opens no connection.
export { firstFreeSlug, slugOf } from '../../../domain/slug.ts';
export { type CheckOptions, type ConfigText, readConfigText } from './check-config.ts';
export { type FoundSecrets, findSecrets, type SecretPlaces } from './find-secrets.ts';
