/** How a deployment runs, as far as the specification tells modes apart. */
export interface Mode {
  readonly name: 'self_hosted' | 'self_hosted_with_accounts' | 'hosted';
  readonly hosted: boolean;
  /** Members with roles. Without them, the tokens and all keys act for one owner (section 1). */
  readonly accounts: boolean;
}

export const modes: readonly Mode[] = [
  { name: 'self_hosted', hosted: false, accounts: false },
  { name: 'self_hosted_with_accounts', hosted: false, accounts: true },
  { name: 'hosted', hosted: true, accounts: true },
];

export const everywhere = (): boolean => true;
export const withMembers = ({ accounts }: Mode): boolean => accounts;
export const selfHosted = ({ hosted }: Mode): boolean => !hosted;
export const onlyHosted = ({ hosted }: Mode): boolean => hosted;
