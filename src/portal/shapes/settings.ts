export interface NoticeSettings {
  /** Notices of the bot that can be muted; those about security cannot. */
  topics: { topic: string; is_muted: boolean }[];
}
