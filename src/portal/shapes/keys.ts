import type { KeyRow, Page } from '../../web/index.ts';

export type { KeyRow };

/** All keys, the newest first. */
export type KeyList = Page<KeyRow>;

/** The only answer with a key. */
export interface NewKey {
  key_id: string;
  key: string;
}
