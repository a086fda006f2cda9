/** One field before and after a change. */
export interface FieldChange {
  readonly field: string;
  /** The word for the field; its values are then words too. */
  readonly label?: string;
  /** Undefined where it isn’t shown. */
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Fields that hold secrets, by name. The server never sends them in audit entries or plans; the console hides
 * them in any case. `secret_ref`, `secret_version` and token counts are not secrets.
 */
const SECRET = /(?:^|_)(?:secret|password|token|hmac|api_key|private_key)$/;

export function isSecretField(field: string): boolean {
  return SECRET.test(field.split('.').at(-1) ?? field);
}

/** The differences between two states, field by field, including nested objects. */
export function fieldChanges(before: unknown, after: unknown): readonly FieldChange[] {
  const [from, to] = [leavesOf(before), leavesOf(after)];
  const fields = new Set([...from.keys(), ...to.keys()]);
  return [...fields]
    .map((field) => ({ field, before: from.get(field) ?? null, after: to.get(field) ?? null }))
    .filter((change) => plainValue(change.before) !== plainValue(change.after));
}

/** A value as JSON; text without quotes. */
export function plainValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

const DEPTH_MAX = 4;

function leavesOf(value: unknown, path = '', depth = 0): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  if (typeof value !== 'object' || value === null) return leaves;
  for (const [name, inner] of Object.entries(value)) {
    const field = path === '' ? name : `${path}.${name}`;
    const isGroup = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    if (!isGroup || depth >= DEPTH_MAX) leaves.set(field, inner);
    else for (const leaf of leavesOf(inner, field, depth + 1)) leaves.set(...leaf);
  }
  return leaves;
}
