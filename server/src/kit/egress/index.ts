export { InvalidCidrError, parseCidr } from './address.ts';
export {
  AddressRefusedError,
  createEgress,
  type Egress,
  type EgressController,
  type EgressHandler,
  type EgressRequest,
} from './egress.ts';
export { parseTargetUrl, targetUrlProblems } from './target-url.ts';
