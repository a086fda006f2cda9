import { type ConfigFile, sectionNames } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import { slugOf } from '../../domain/slug.ts';
import { invalidField } from '../resources/refusals.ts';
import type { Entry, SectionDeps, SectionName, SectionShape } from '../resources/section.ts';
import { numbered } from './item-keys.ts';

/** One item of the file, with defaults filled in. */
export interface FileItem {
  readonly key: string;
  readonly entry: Entry;
  /** The position in the file, such as `endpoints[3]`. */
  readonly path: string;
}

export type FileItems = ReadonlyMap<SectionName, ReadonlyMap<string, FileItem>>;

/** Reads the file and validates each item by itself. `judgePlan` checks references between items. */
export function readFile(file: ConfigFile, sections: readonly SectionShape[], deps: SectionDeps): FileItems {
  const { items, faults } = readItems(file, sections, deps);
  if (faults[0] !== undefined) throw faults[0];
  return items;
}

/** Returns the valid items, and an error for each invalid one. */
export function readItems(
  file: ConfigFile,
  sections: readonly SectionShape[],
  deps: SectionDeps,
): { readonly items: FileItems; readonly faults: readonly RelayError[] } {
  const faults: RelayError[] = [];
  for (const name of sectionNames) {
    if (file[name] === undefined || sections.some((section) => section.name === name)) continue;
    const message = `${name} is for self-hosted deployments. Remove it from the file.`;
    faults.push(new RelayError('mode_unsupported', { message, param: name }));
  }
  const items = new Map(sections.map((section) => [section.name, itemsOf(file, section, deps, faults)]));
  return { items, faults };
}

function itemsOf(
  file: ConfigFile,
  section: SectionShape,
  deps: SectionDeps,
  faults: RelayError[],
): ReadonlyMap<string, FileItem> {
  const given = (file[section.name] ?? []) as readonly Partial<Entry>[];
  const checked = given.flatMap((item, index) => {
    const path = `${section.name}[${index}]`;
    try {
      return [{ path, entry: section.checked(entryOf(section, item), deps) }];
    } catch (error) {
      faults.push(atItem(path, error));
      return [];
    }
  });
  const items = new Map<string, FileItem>();
  for (const item of numbered(section, checked)) {
    const other = items.get(item.key);
    if (other === undefined) items.set(item.key, item);
    else faults.push(sameKey(section, item, other));
  }
  return items;
}

function entryOf(section: SectionShape, item: Partial<Entry>): Entry {
  const said = { ...section.defaultsOf(item), ...item };
  const slugged = section.fields.includes('slug') && typeof said['name'] === 'string';
  const slug = slugged ? { slug: said['slug'] ?? slugOf(said['name'] as string, section.kind) } : {};
  const whole: Partial<Entry> = { ...said, ...slug };
  return Object.fromEntries(section.fields.map((field) => [field, whole[field] ?? null]));
}

/** Errors of the resources name a field of a request body; this puts the position of the item in front. */
function atItem(path: string, error: unknown): RelayError {
  if (!(error instanceof RelayError) || typeof error.detail.param !== 'string') throw error;
  const param = `${path}.${error.detail.param}`;
  return new RelayError(error.code, { ...error.detail, param, message: `${path}: ${error.message}` });
}

function sameKey(section: SectionShape, item: FileItem, other: FileItem): RelayError {
  const [first, second] = [item.path, other.path].sort(
    (a, b) => Number(a.match(/\d+/)?.[0]) - Number(b.match(/\d+/)?.[0]),
  );
  const fix = section.fields.includes('slug')
    ? 'Give one of them another slug.'
    : 'Remove one of them, or merge them.';
  return invalidField(
    `${second}`,
    `${second} is the same ${section.kind.replaceAll('_', ' ')} "${item.key}" as ${first}. ${fix}`,
  );
}
