export { InvalidCidrError, parseCidr } from './address.ts';
export {
  AddressRefusedError,
  type ClientIdentity,
  createEgress,
  type Egress,
  type EgressController,
  type EgressHandler,
  type EgressRequest,
} from './egress.ts';
export { type FailureReason, failureReasonOf } from './failure-reason.ts';
export { createInternalLink, type InternalLink, type LinkAnswer, type LinkFlow } from './internal-link.ts';
export { type OnceResult, sendOnce } from './send-once.ts';
export { parseTargetUrl } from './target-url.ts';
