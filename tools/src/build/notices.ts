import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENSE_FILE = /^licen[cs]e(\.(md|txt))?$/i;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The notices that go with the packages in the bundle, whose licenses ask for them. */
export function noticesOf(folders: readonly string[]): string {
  const parts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as Manifest;
    if (license === undefined) throw new Error(`${name} is in the bundle and names no license`);
    const file = readdirSync(folder).find((each) => LICENSE_FILE.test(each));
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    return `## ${name} ${version} (${license})\n${text}`;
  });
  return `# Licenses\n\nThe program contains code from these packages.\n\n${parts.join('\n')}`;
}
