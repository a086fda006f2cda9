// The configuration file as text, for whoever reads or writes one: the command line, the server, the console.
export { type Finding, type Position, readYaml, type YamlText } from './read-yaml.ts';
export { writeConfigText } from './write-config.ts';
