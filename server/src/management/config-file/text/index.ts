// What the command line needs of the configuration file; nothing here opens a connection or loads the server.
export { firstFreeSlug, slugOf } from '../../../domain/slug.ts';
export { shiftDecimal } from '../../pricing-policies/price-catalog.ts';
export { type CheckOptions, type ConfigText, readConfigText } from './check-config.ts';
export { type FoundSecrets, findSecrets, type SecretPlaces } from './find-secrets.ts';
