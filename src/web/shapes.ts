/**
 * What the answers of `/console/api` and `/portal/api` share, as the types of what builds them. The pages in web/ import
 * these types, the shapes of their own answers, and nothing else of the service. Money is text with its unit in the name,
 * and times are ISO 8601 in UTC, as in the partner API.
 */

import type { keyObject, limitsObject } from '../partners/index.ts';
import type { failedCount, resentBatch } from './delivery-filter.ts';
import type * as rows from './rows.ts';

export type { Mode } from '../ledger/index.ts';
export type { Page } from './fields.ts';
export type { Refusal } from './replies.ts';
export type { PaymentStatus } from './rows.ts';
export type { TimelineItem } from './timeline.ts';

export type AnySession = ReturnType<typeof rows.sessionTimes>;
export type CheckResult = ReturnType<typeof rows.checkResult>;
export type DeliveryRow = ReturnType<typeof rows.deliveryRow>;
export type DeliveryDetail<Row = DeliveryRow> = ReturnType<typeof rows.deliveryDetail<Row>>;
export type EndpointRow = ReturnType<typeof rows.endpointRow>;
/** How many deliveries failed and match the filters. */
export type FailedCount = ReturnType<typeof failedCount>;
export type KeyRow = ReturnType<typeof keyObject>;
/** What a partner may do, and how often. */
export type Limits = ReturnType<typeof limitsObject>;
/** A request to the partner API. */
export type LoggedRequestRow = ReturnType<typeof rows.loggedRequestRow>;
export type PaymentRow = ReturnType<typeof rows.paymentRow>;
/** One batch of them, queued again. */
export type ResentBatch = ReturnType<typeof resentBatch>;
