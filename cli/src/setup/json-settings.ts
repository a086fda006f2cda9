import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { isObject } from '../kit/values.ts';

export type JsonSettings = Readonly<Record<string, unknown>>;

/** Rejects a file with comments, because rewriting would lose them. */
export function readJsonSettings(text: string | null, name: string, byHand: string): JsonSettings {
  if (text === null || text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw new ProgramError(`${name} is not plain JSON. Relay would lose its comments.`, exitCodes.error, {
    fix: `Correct the file, or add this by hand: ${byHand}`,
  });
}

/** The object in a field, empty without one. */
export function objectIn(settings: JsonSettings, field: string, name: string): JsonSettings {
  const value = settings[field] ?? {};
  if (isObject(value)) return value;
  throw new ProgramError(`"${field}" in ${name} is not an object.`, exitCodes.error, {
    fix: 'Correct the file first.',
  });
}

/** Keeps the indentation of the file. */
export function jsonText(before: string | null, settings: JsonSettings): string {
  const indent = /^([ \t]+)"/m.exec(before ?? '')?.[1] ?? '  ';
  return `${JSON.stringify(settings, null, indent)}\n`;
}
