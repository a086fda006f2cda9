import { Command } from 'commander';
import type { Surroundings } from '../kit/surroundings.ts';
import { type AnnouncedResource, announcedResource } from './announced-resource.ts';
import { resourceCommand } from './resource-command.ts';

/** The command of a resource that needs no more than the contract says of it. */
export function announcedCommand(announced: AnnouncedResource) {
  return (surroundings: Surroundings, argv?: readonly string[]): Promise<Command> => {
    const command = new Command(announced.plural).description(announced.description);
    return resourceCommand(command, surroundings, announcedResource(announced), argv);
  };
}
