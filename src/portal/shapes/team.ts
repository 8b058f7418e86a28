import type { MemberRole } from '../../partners/index.ts';

export interface MemberRow {
  user_id: string;
  name: string;
  role: MemberRole;
  joined_at: string;
  is_you: boolean;
}

export interface Team {
  data: MemberRow[];
  max_members: number;
}

/** For one person, once, within a day. */
export interface Invitation {
  /** What the person sends to the bot. */
  command: string;
  /** Opens the bot with that command; null if the name of the bot is not configured. */
  url: string | null;
}
