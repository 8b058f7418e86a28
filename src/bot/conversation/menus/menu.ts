import type { MemberRole } from '../../../partners/index.ts';
import type { PartnerVisit, Visit } from '../visit.ts';

/** What a button about a partner does, and who may press it. */
export interface PartnerAction {
  role: MemberRole;
  run(visit: PartnerVisit, ...args: string[]): Promise<void>;
}

/** What follows when somebody types the answer to a question, or presses its button. */
export interface PartnerStep {
  role: MemberRole;
  answer?(visit: PartnerVisit, args: string[], typed: string): Promise<void>;
  confirm?(visit: PartnerVisit, args: string[]): Promise<void>;
}

export interface Menu {
  actions: Record<string, PartnerAction>;
  steps: Record<string, PartnerStep>;
}

/** What a button does that is about nobody's partner. */
export type PersonalAction = (visit: Visit, ...args: string[]) => Promise<void>;
