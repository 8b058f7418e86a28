import { programName } from '../base/program-name.ts';
/** A command that is valid but refused: one line for people, a stable code for programs, exit code 1. */
export class RefusedError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const noSuchPartner = (partner: string) =>
  new RefusedError('no_partner', `There is no partner ${partner}: see ${programName} partner list.`);
