import type { ModeName } from '../../web/index.ts';

/** A request to the partner API. */
export interface LoggedRequestRow {
  request_id: string;
  at: string;
  mode: ModeName | null;
  key_id: string | null;
  /** Null: it was not valid HTTP. */
  method: string | null;
  /** Without the query string. */
  path: string | null;
  payment_id: string | null;
  status: number;
  error_code: string | null;
  duration_ms: number;
}
