import type { MemberRole } from '../../../partners/index.ts';
import type { ChatContext, PartnerContext } from '../chat-context.ts';

/** What a button about a partner does, and the role it needs. */
export interface PartnerAction {
  role: MemberRole;
  run(chat: PartnerContext, ...args: string[]): Promise<void>;
}

/** Handles the answer to a question: typed, or given by its button. */
export interface PartnerStep {
  role: MemberRole;
  answer?(chat: PartnerContext, args: string[], typed: string): Promise<void>;
  confirm?(chat: PartnerContext, args: string[]): Promise<void>;
}

export interface Menu {
  actions: Record<string, PartnerAction>;
  steps: Record<string, PartnerStep>;
}

/** What a button does that concerns no partner. */
export type PersonalAction = (chat: ChatContext, ...args: string[]) => Promise<void>;
