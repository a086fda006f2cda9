export { awsAccess } from './access/aws-signature.ts';
export { serviceAccounts } from './access/service-accounts.ts';
export { tokensOfText } from './content.ts';
export type { Counts } from './counts.ts';
export { type Fault, type FaultName, faultNames } from './fault.ts';
export type { ScriptMatch, ScriptRule } from './fault-script.ts';
export {
  FORBIDDEN_WORD,
  type GuardrailBehaviourName,
  guardrailBehaviours,
} from './guardrail-behaviours.ts';
export { type GuardrailServiceName, guardrailServices } from './guardrail-services.ts';
export { type GuardrailLogEntry, type GuardrailSim, startGuardrailSim } from './guardrail-sim.ts';
export { type FrameReport, indexedFrame, verifyFrames } from './indexed-frames.ts';
export type { SimModel } from './models.ts';
export { type PersonalityName, personalityNames } from './personalities/index.ts';
export { startProviderSim } from './provider-sim.ts';
export { imageTokens } from './read-prompt.ts';
export { contentOfStream, readSse, type SseEvent } from './read-sse.ts';
export type { BodyRetention, Outcome, ReportedUsage, RequestLogEntry } from './request-log.ts';
export type { Play, ProviderSim, ProviderSimOptions } from './simulator.ts';
