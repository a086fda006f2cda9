import type { Section } from '../resources/stored-section.ts';
import type { StoredItem } from './configuration.ts';
import type { PlanInput } from './make-plan.ts';
import type { FileItem } from './read-file.ts';

/** An item of a section with secrets, and its stored row if there is one. */
export interface HeldItem {
  readonly section: Section;
  readonly item: FileItem;
  readonly stored: StoredItem | null;
  /** The item's `secret_ref`; null when it has none. */
  readonly ref: string | null;
}

export function heldItems(input: PlanInput): HeldItem[] {
  return input.sections.flatMap((section) => {
    if (section.firstPlace === null) return [];
    return [...(input.file.get(section.name)?.values() ?? [])].map((item) => ({
      section,
      item,
      stored: input.stored.get(section.name)?.get(item.key) ?? null,
      ref: typeof item.entry['secret_ref'] === 'string' ? item.entry['secret_ref'] : null,
    }));
  });
}
