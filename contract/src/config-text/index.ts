// Text of the configuration file, for the CLI, the server and the console.
export { pathInFile } from './path-in-file.ts';
export { type Finding, type Position, readYaml, type YamlText } from './read-yaml.ts';
export { writeConfigText } from './write-config.ts';
