import { text } from '../text/index.ts';

export type SettingsSection = keyof typeof text.settings.sections;

/** The section that is shown; the profile when missing. */
export interface SettingsSearch {
  readonly section?: SettingsSection;
}

export function settingsSearch(search: Record<string, unknown>): SettingsSearch {
  const { section } = search;
  return isSection(section) && section !== 'profile' ? { section } : {};
}

function isSection(value: unknown): value is SettingsSection {
  return typeof value === 'string' && Object.hasOwn(text.settings.sections, value);
}
