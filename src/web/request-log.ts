import type Type from 'typebox';
import { parseId } from '../base/ids.ts';
import { parseInstant } from '../base/instants.ts';
import { parseStatus, type RequestFilter } from '../request-log/index.ts';
import { readFields, SearchText } from './fields.ts';
import { paging } from './replies.ts';

/** The query string of a request log. */
export const requestLogQuery = {
  request_id: SearchText,
  /** `4xx` or `404`. */
  status: SearchText,
  error_code: SearchText,
  since: SearchText,
  until: SearchText,
  ...paging,
};

type Query = Type.Static<Type.TObject<typeof requestLogQuery>> & { path?: string };

/** Undefined when a field cannot be parsed. */
export const readRequestFilter = (query: Query): RequestFilter | undefined =>
  readFields(read => ({
    requestId: read(query.request_id?.trim(), text => parseId('req', text)),
    path: read(query.path?.trim(), text => text.split('?', 1)[0]),
    status: read(query.status?.trim(), parseStatus),
    errorCode: read(query.error_code?.trim(), text => text),
    since: read(query.since?.trim(), parseInstant),
    until: read(query.until?.trim(), parseInstant),
  }));
