/**
 * What the answers of `/console/api` are, as the types of what builds them: a field stands once, where it is read. Of the
 * console the pages may import only this file.
 */

import type { operatorObject } from '../operators/index.ts';
import type { AnswerOf } from '../web/index.ts';
import type { setupLinkObject } from './access/operator-routes.ts';
import type { sessionObject, showSessions } from './access/session-routes.ts';
import type { lookAtSetup } from './access/sign-in-routes.ts';
import type { alarmRows, listKinds } from './alarms/routes.ts';
import type { requestRow } from './approval-replies.ts';
import type { auditRow } from './audit/routes.ts';
import type { showRecovery } from './controls/recovery-routes.ts';
import type { runDetail, runRow, showRecipients } from './controls/routes.ts';
import type { ownedRow, showDelivery } from './deliveries/routes.ts';
import type { depositRow, showChains } from './deposits/routes.ts';
import type { accountRow, entryRow, showTrialBalance, verify } from './ledger/routes.ts';
import type { createOverview } from './overview/routes.ts';
import type { attemptRow } from './partners/connection-routes.ts';
import type { showPartner } from './partners/routes.ts';
import type { partnerRow } from './partners/rows.ts';
import type { listReviewQueue } from './payments/review-routes.ts';
import type { showPayment } from './payments/routes.ts';
import type { paymentRow } from './payments/rows.ts';
import type { showRates, tryRules } from './rates/routes.ts';
import type { readRateNow, rulesRow } from './rates/rows.ts';
import type { requestRow as loggedRequestRow } from './request-log/routes.ts';
import type { showSettings } from './settings/routes.ts';

export type { OperatorRole, Permission } from '../operators/index.ts';
export type { PartnerBalance } from './approval-balances.ts';
export type { Done } from './approval-replies.ts';
export type { AuditHeadsState } from './audit/routes.ts';
export type { TimelineItem } from './payments/rows.ts';

export type AccountRow = ReturnType<typeof accountRow>;
export type AlarmKinds = AnswerOf<typeof listKinds>;
export type AlarmRow = Awaited<ReturnType<typeof alarmRows>>[number];
export type AttemptRow = ReturnType<typeof attemptRow>;
export type AuditRow = ReturnType<typeof auditRow>;
export type DeliveryDetail = AnswerOf<typeof showDelivery>;
export type DeliveryRow = ReturnType<typeof ownedRow>;
export type DepositChainList = AnswerOf<typeof showChains>;
export type DepositRow = ReturnType<typeof depositRow>;
export type Enrolment = AnswerOf<typeof lookAtSetup>;
export type EntryRow = ReturnType<typeof entryRow>;
export type Invitation = ReturnType<typeof setupLinkObject>;
export type LoggedRequestRow = ReturnType<typeof loggedRequestRow>;
export type LostHistory = AnswerOf<typeof showRecovery>;
export type OperatorRow = ReturnType<typeof operatorObject>;
export type Overview = Awaited<ReturnType<ReturnType<typeof createOverview>>>;
export type PartnerDetail = AnswerOf<typeof showPartner>;
export type PartnerRow = Awaited<ReturnType<typeof partnerRow>>;
export type PaymentDetail = AnswerOf<typeof showPayment>;
export type PaymentRow = ReturnType<typeof paymentRow>;
export type RateNow = NonNullable<Awaited<ReturnType<typeof readRateNow>>>;
export type RateRules = ReturnType<typeof rulesRow>;
export type RatesPage = AnswerOf<typeof showRates>;
export type RecipientRow = AnswerOf<typeof showRecipients>['data'][number];
export type ReconciliationDetail = ReturnType<typeof runDetail>;
export type ReconciliationRow = ReturnType<typeof runRow>;
/** A change that needs four-eyes approval: a second operator has to decide on it. */
export type RequestRow = ReturnType<typeof requestRow>;
export type ReviewRow = AnswerOf<typeof listReviewQueue>['data'][number];
export type Session = ReturnType<typeof sessionObject>;
export type SessionRow = AnswerOf<typeof showSessions>['data'][number];
export type SettingsPage = AnswerOf<typeof showSettings>;
export type TrialBalance = AnswerOf<typeof showTrialBalance>;
export type Verification = AnswerOf<typeof verify>;
export type WhatIf = AnswerOf<typeof tryRules>;
