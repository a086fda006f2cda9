export const roleNames = ['all', 'platform', 'inference', 'worker'] as const;
export type RoleName = (typeof roleNames)[number];

/** What each role switches on. */
export interface Role {
  /** Serves the management API. */
  readonly management: boolean;
  /** Serves `/v1`. */
  readonly inference: boolean;
  /** Moves usage into the ledger. */
  readonly metering: boolean;
}

export const roles: Record<RoleName, Role> = {
  all: { management: true, inference: true, metering: true },
  platform: { management: true, inference: false, metering: false },
  inference: { management: false, inference: true, metering: false },
  worker: { management: false, inference: false, metering: true },
};
