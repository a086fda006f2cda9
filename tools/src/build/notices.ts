import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A NOTICE file has to go with the license that asks for it. */
const LICENSE_FILE = /^(licen[cs]e|copying|notice)(\.(md|txt))?$/i;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The notices that go with the packages in the bundle, whose licenses ask for them. Headings are those of the console's notices. */
export function noticesOf(folders: readonly string[]): string {
  const parts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as Manifest;
    if (license === undefined) throw new Error(`${name} is in the bundle and names no license`);
    const texts = readdirSync(folder)
      .filter((each) => LICENSE_FILE.test(each))
      .sort()
      .map((file) => `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`);
    return `## ${name} - ${version} (${license})\n${texts.join('')}`;
  });
  return `# Licenses\n\nThe program contains code from these packages.\n\n${[...new Set(parts)].join('\n')}`;
}
