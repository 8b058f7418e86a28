/** What the answers of `/portal/api` are, as the types of what builds them. Of the portal the pages may import only this file. */

import type { AnswerOf } from '../web/index.ts';
import type { withPartner } from './access/new-partner-routes.ts';
import type { answerOf, currentSession, showSessions } from './access/routes.ts';
import type { identityOf, sessionObject } from './access/session-object.ts';
import type { showLimits } from './by-hand/routes.ts';
import type { create } from './keys/routes.ts';
import type { depositRow, showBalance } from './money/routes.ts';
import type { showOverview } from './overview/routes.ts';
import type { showPayment } from './payments/routes.ts';
import type { readPhoto } from './qr/photo-route.ts';
import type { qrRoute } from './qr/routes.ts';
import type { listQuotes, quoteAmount, showRate } from './rate/routes.ts';
import type { showMonthlyReport } from './settings/monthly-report-routes.ts';
import type { showNotices } from './settings/routes.ts';
import type { inviteMember, list } from './team/routes.ts';
import type { readNow, show } from './webhook/routes.ts';

export type { MemberRight, MemberRole } from '../partners/index.ts';

export type Balance = AnswerOf<typeof showBalance>;
export type ByHandLimits = AnswerOf<typeof showLimits>;
export type CurrentSession = AnswerOf<typeof currentSession>;
export type DepositRow = ReturnType<typeof depositRow>;
export type EndpointRow = WebhookPage['endpoints'][number];
export type Identity = Awaited<ReturnType<typeof identityOf>>;
export type Invitation = AnswerOf<typeof inviteMember>;
export type LockedQuotes = AnswerOf<typeof listQuotes>;
export type MemberRow = Team['data'][number];
export type MonthlyReport = AnswerOf<typeof showMonthlyReport>;
export type NewKey = AnswerOf<typeof create>;
export type NewPartner = Awaited<ReturnType<typeof withPartner>>;
export type NoticeSettings = AnswerOf<typeof showNotices>;
export type OtherPerson = Extract<SignInAnswer, { question: string }>;
export type Overview = AnswerOf<ReturnType<typeof showOverview>>;
export type PartnerChoice = Identity['partners'][number];
export type PaymentDetail = AnswerOf<typeof showPayment>;
export type QrPhoto = AnswerOf<ReturnType<typeof readPhoto>>;
export type Quote = AnswerOf<typeof quoteAmount>;
export type RatePage = AnswerOf<typeof showRate>;
export type ResolvedQr = AnswerOf<typeof qrRoute>;
export type SessionRow = AnswerOf<typeof showSessions>['data'][number];
export type Secrets = Awaited<ReturnType<typeof readNow>>;
export type Session = Awaited<ReturnType<typeof sessionObject>>;
export type SignInAnswer = NonNullable<Awaited<ReturnType<typeof answerOf>>>;
export type Team = AnswerOf<typeof list>;
export type WebhookPage = AnswerOf<typeof show>;
