import type { Fault } from './fault.ts';
import { admissionFaults } from './lists/admission.ts';
import { alertsFaults } from './lists/alerts.ts';
import { cliFaults } from './lists/cli.ts';
import { consoleFaults } from './lists/console.ts';
import { contractFaults } from './lists/contract.ts';
import { domainFaults } from './lists/domain.ts';
import { edgeFaults } from './lists/edge.ts';
import { guardrailFaults } from './lists/guardrails.ts';
import { httpFaults } from './lists/http.ts';
import { inferenceFaults } from './lists/inference.ts';
import { kitFaults } from './lists/kit.ts';
import { mailFaults } from './lists/mail.ts';
import { managementFaults } from './lists/management.ts';
import { meteringFaults } from './lists/metering.ts';
import { protocolFaults } from './lists/protocols.ts';
import { providerSimFaults } from './lists/provider-sim.ts';
import { storeFaults } from './lists/store.ts';
import { translateFaults } from './lists/translate.ts';

/** Every list by its name, which is its file's in `lists/`. */
export const faultLists: Readonly<Record<string, readonly Fault[]>> = {
  contract: contractFaults,
  kit: kitFaults,
  domain: domainFaults,
  protocols: protocolFaults,
  translate: translateFaults,
  guardrails: guardrailFaults,
  alerts: alertsFaults,
  mail: mailFaults,
  store: storeFaults,
  http: httpFaults,
  admission: admissionFaults,
  edge: edgeFaults,
  inference: inferenceFaults,
  metering: meteringFaults,
  management: managementFaults,
  cli: cliFaults,
  console: consoleFaults,
  'provider-sim': providerSimFaults,
};
