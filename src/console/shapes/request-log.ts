import type { LoggedRequestRow as Row } from '../../web/index.ts';

/** A request to the partner API. */
export interface LoggedRequestRow extends Row {
  partner_id: string | null;
  partner: string | null;
}
