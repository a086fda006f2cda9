import { isDeepStrictEqual } from 'node:util';
import type { ConfigFile } from '@relay/contract';
import type { Entry } from '../resources/section.ts';
import type { Section } from '../resources/stored-section.ts';
import type { Configuration } from './configuration.ts';

/**
 * The configuration as a file: sorted, without ids, secrets and defaults. Equal configurations give equal
 * files.
 */
export function exportFile(configuration: Configuration, sections: readonly Section[]): ConfigFile {
  const parts = sections.flatMap((section) => {
    const stored = [...(configuration.get(section.name)?.values() ?? [])];
    const entries = section.completed(stored.map(({ entry }) => entry));
    const items = entries.map((entry) => withoutDefaults(section, entry));
    return items.length === 0 ? [] : [[section.name, items]];
  });
  return { version: 1, ...Object.fromEntries(parts) } as ConfigFile;
}

export function withoutDefaults(section: Section, entry: Entry): Entry {
  const defaults = section.defaultsOf(entry);
  const said = section.fields.filter(
    (field) => !(Object.hasOwn(defaults, field) && isDeepStrictEqual(entry[field], defaults[field])),
  );
  return Object.fromEntries(said.map((field) => [field, entry[field] ?? null]));
}
