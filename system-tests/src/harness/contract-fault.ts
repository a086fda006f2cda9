/** A response deviates from the contract: no test waits for such a fault to pass. */
export class ContractFault extends Error {}
