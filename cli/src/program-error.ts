/** Ends the command with a message for the user and an exit code; never shown with a stack. */
export class ProgramError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
