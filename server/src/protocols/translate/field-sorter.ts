import { isDeepStrictEqual } from 'node:util';
import { parsedValue } from '../../kit/json-source.ts';
import { isObject, type JsonObject } from '../../kit/json-value.ts';
import type { FieldTreatment, Incompatible, TranslatedRequest } from './translation.ts';

export interface FieldRule {
  readonly treatment: FieldTreatment;
  /** Values that say the same as leaving the field out. */
  readonly sameAsAbsent: readonly unknown[];
}

/** The fields of one kind of object, by name. */
export type FieldTable = Readonly<Record<string, FieldRule>>;

export const carried: FieldRule = { treatment: 'carried', sameAsAbsent: [] };
export const advisory: FieldRule = { treatment: 'advisory', sameAsAbsent: [] };

/** What happens to a system message where Messages accept none. */
export const MOVED = 'moved after the user turn';

/** An advisory field with values that say the same as leaving it out. */
export function advisoryUnless(...sameAsAbsent: readonly unknown[]): FieldRule {
  return { treatment: 'advisory', sameAsAbsent };
}

export function essential(...sameAsAbsent: readonly unknown[]): FieldRule {
  return { treatment: 'essential', sameAsAbsent };
}

/** One request's way through a table: what was left out, and the first field that makes the candidate incompatible. */
export class FieldSorter {
  readonly #leftOut: string[] = [];
  #incompatible: Incompatible | null = null;
  readonly #provider: string;

  /** `provider`: what the provider's protocol is called in reasons. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Sorts the members of an object. The caller says the carried ones in the provider's words. */
  sort(object: JsonObject, path: string, table: FieldTable): void {
    for (const name of Object.keys(object)) {
      const value = object[name];
      // In both protocols null says the same as leaving a field out.
      if (value === null || value === undefined) continue;
      const rule = Object.hasOwn(table, name) ? table[name] : undefined;
      if (rule?.treatment === 'carried') continue;
      if (rule?.sameAsAbsent.some((same) => isDeepStrictEqual(same, parsedValue(value))) === true) continue;
      const field = path === '' ? name : `${path}.${name}`;
      if (rule?.treatment === 'advisory') this.leaveOut(field);
      else this.cannotSay(field);
    }
  }

  /** An object of the request, sorted; empty when it is absent. */
  section(value: unknown, path: string, table: FieldTable): JsonObject {
    if (value === undefined || value === null) return {};
    if (!isObject(value)) {
      this.wrongKind(path, 'an object');
      return {};
    }
    this.sort(value, path, table);
    return value;
  }

  /** A list of the request; empty when it is absent. */
  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.wrongKind(path, 'an array');
    return [];
  }

  leaveOut(field: string): void {
    this.#leftOut.push(field);
  }

  /** For what the provider gets in another way. `how` is part of the field's name, and must not contain a comma. */
  change(field: string, how: string): void {
    this.leaveOut(`${field} (${how})`);
  }

  cannotSay(field: string): void {
    this.refuse(field, `${this.#provider} can’t express this field.`);
  }

  refuse(field: string, why: string): void {
    this.#incompatible ??= { kind: 'incompatible', field, why };
  }

  /** For a value of a kind that the client's protocol does not have either. */
  wrongKind(field: string, expected: string): void {
    this.refuse(field, `Expected ${expected}.`);
  }

  result(body: JsonObject): TranslatedRequest | Incompatible {
    return this.#incompatible ?? { kind: 'translated', body, leftOut: this.#leftOut };
  }
}

/** Members that are absent in JSON: a key with `undefined` would be one more thing to compare. */
export function withoutUndefined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
