import type { MemberRight } from '../../../partners/index.ts';
import type { ChatContext, PartnerContext } from '../chat-context.ts';

/** What a button about a partner does. Its arguments may be forged, or missing. */
export type PartnerAction = (chat: PartnerContext, ...args: string[]) => Promise<void>;

/** Handles the answer to a question: typed, or given by its button. The arguments are those of the question. */
export interface PartnerStep {
  answer?: (chat: PartnerContext, typed: string, ...args: string[]) => Promise<void>;
  confirm?: PartnerAction;
}

/** Buttons and questions about a partner, by the right that they need. */
export type Menu = {
  [right in MemberRight]?: { actions?: Record<string, PartnerAction>; steps?: Record<string, PartnerStep> };
};

/** What a button does that concerns no partner. */
export type PersonalAction = (chat: ChatContext, ...args: string[]) => Promise<void>;
