import { supportInEnglish } from '../../base/support.ts';
import type { NoticeKind } from '../../db/notices/index.ts';
import type { DepositAddress } from '../../deposits/index.ts';
import type { Balances, Mode, PastCredit } from '../../ledger/index.ts';
import {
  type ApiKey,
  type Limits,
  type MemberRight,
  type MemberRole,
  type Partner,
  rolesWith,
  type Scope,
} from '../../partners/index.ts';
import type { PaymentStatus, Refunded, ShownPayment } from '../../payments/index.ts';
import {
  type EventKind,
  formatEventId,
  type listAttempts,
  probeName,
  problemText,
  responseText,
  type Webhook,
  type WebhookCheck,
} from '../../webhooks/index.ts';
import { clip, escapeHtml as e } from '../conversation/screen.ts';
import type { MutableTopic, NoticeDetails } from '../notices/outbox.ts';
import { formatsOf, named } from './formats.ts';

export type Attempt = Awaited<ReturnType<typeof listAttempts>>[number];
export type Resolved = {
  mode: Mode;
  recipient: string;
  purpose: string;
  rub: string;
  usdt: string | undefined;
  blocked: boolean;
};
/** Which payments a list shows: all of a mode, or those with one status. */
export type PaymentFilter = { mode: Mode; status?: PaymentStatus };
/** What the chats of partners get of the settings: where support is, if it can be reached. */
export type SupportUrl = string | undefined;
export type Notices = Record<
  NoticeKind,
  (details: NoticeDetails, count: number, support?: SupportUrl) => string
>;
export type BalancesOfBoth = Record<Mode, Balances>;

const { amount, rub, usdt, rate, time, text, decimal, moment, monthName } = formatsOf('en-GB');
const oneOf = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const roles: Record<MemberRole, string> = {
  viewer: 'viewer',
  accountant: 'accountant',
  payer: 'payer',
  developer: 'developer',
  owner: 'owner',
};

const toSupport = (url: SupportUrl, otherwise: string, ask?: string) =>
  e(supportInEnglish(url, otherwise, ask));

const suspended = (support: SupportUrl) =>
  `This partner is suspended: new payments are refused. ${toSupport(support, 'Payments in progress will be completed: follow them under Payments.')}`;

/** Set if it is not about the first endpoint. */
const toUrl = (url: NoticeDetails[string] | undefined) => (url ? ` to <code>${text(url)}</code>` : '');

const notices: Notices = {
  delivery_failed: ({ event_id, url }, count) =>
    count === 1
      ? `📭 Event <code>evt_${text(event_id)}</code> was not delivered${toUrl(url)} after 9 attempts. Details: Webhook → Log.`
      : `📭 ${count} events were not delivered after 9 attempts each. Details: Webhook → Log.`,
  sending_suspended: ({ url }) =>
    `⛔ Webhooks${toUrl(url)} are suspended: three events in a row were not delivered. Fix your endpoint, then press Webhook → Check. No events are lost: we will send them after a successful check.`,
  sending_re_enabled: ({ url }) =>
    `✅ Webhooks${toUrl(url)} are active again. We are sending the pending events.`,
  payment_in_review: (details, count) =>
    count === 1
      ? `⏳ Payment <code>${text(details.payment_id)}</code>${named(details)} of ${decimal(details.amount_rub)} RUB is delayed: the bank has not confirmed the result yet. Do not pay again. We keep checking the status.`
      : `⏳ ${count} payments are delayed: the bank has not confirmed the results yet. Do not pay again. We keep checking the status.`,
  payment_review_ended: (details, count) =>
    count === 1
      ? `🏁 Payment <code>${text(details.payment_id)}</code>${named(details)} has a final status: ${text(details.status)}.`
      : `🏁 ${count} delayed payments have a final status.`,
  monthly_report: ({ month }) =>
    `📊 Report for ${monthName(month)}\nAll reports are in the portal, under “Reports and statements”.`,
  balance_low: ({ balance_usdt, mark_usdt }) =>
    `🪫 Low balance (live): ${decimal(balance_usdt)} USDT. The alert threshold is ${decimal(mark_usdt)} USDT.`,
  balance_credited: ({ mode, usdt, balance_usdt }, count) =>
    count === 1
      ? `💰 Top-up received: ${decimal(usdt)} USDT. Balance (${text(mode)}): ${decimal(balance_usdt)} USDT.`
      : `💰 ${count} top-ups received. Balance (${text(mode)}): ${decimal(balance_usdt)} USDT.`,
  deposit_seen: ({ usdt, chain, minutes }, count) =>
    count === 1
      ? `👀 Deposit on its way: ${decimal(usdt)} USDT on ${text(chain)}. It will be credited when the network has confirmed it, usually in about ${text(minutes)} min.`
      : `👀 ${count} deposits are on their way. They will be credited when the network has confirmed them.`,
  key_created: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Another team member created a ${text(mode)} key: <code>${text(key_id)}</code>. If you did not expect this, revoke it in Keys.`
      : `🔐 ${count} keys were created. If you did not expect this, revoke them in Keys.`,
  key_revoked: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Another team member revoked the ${text(mode)} key <code>${text(key_id)}</code>.`
      : `🔐 ${count} keys were revoked.`,
  key_addresses_changed: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Another team member changed the allowed IP addresses of the ${text(mode)} key <code>${text(key_id)}</code>. If you did not expect this, check Keys.`
      : `🔐 Allowed IP addresses of keys were changed ${count} times. If you did not expect this, check Keys.`,
  key_rolled: ({ key_id, new_key_id, mode, ends_at }, count) =>
    count === 1
      ? `🔐 Another team member rolled the ${text(mode)} key <code>${text(key_id)}</code>: the new one is <code>${text(new_key_id)}</code>, the old one is valid until ${moment(ends_at)}. If you did not expect this, check Keys.`
      : `🔐 ${count} keys were rolled. If you did not expect this, check Keys.`,
  key_expiring: ({ key_id, mode, expires_at }, count) =>
    count === 1
      ? `⌛ The ${text(mode)} key <code>${text(key_id)}</code> expires on ${moment(expires_at)}. Roll it in Keys, and deploy the new one before then.`
      : `⌛ ${count} keys will expire soon. Roll them in Keys, and deploy the new ones.`,
  key_new_address: ({ key_id, mode, address }, count) =>
    count === 1
      ? `🔐 The ${text(mode)} key <code>${text(key_id)}</code> was used from a new IP address: <code>${text(address)}</code>. If you did not expect this, revoke the key in Keys.`
      : `🔐 Keys were used from ${count} new IP addresses, most recently <code>${text(address)}</code> (key <code>${text(key_id)}</code>). If you did not expect this, check Keys.`,
  endpoint_added: ({ url }, count) =>
    count === 1
      ? `🔐 A webhook endpoint was added: <code>${text(url)}</code>. If you did not expect this, check Webhook.`
      : `🔐 ${count} webhook endpoints were added. If you did not expect this, check Webhook.`,
  endpoint_moved: ({ url }, count) =>
    count === 1
      ? `🔐 The address of a webhook endpoint was changed. Events now go to <code>${text(url)}</code>. If you did not expect this, check Webhook.`
      : `🔐 Addresses of webhook endpoints were changed ${count} times. If you did not expect this, check Webhook.`,
  endpoint_removed: ({ url }, count) =>
    count === 1
      ? `🔐 A webhook endpoint was removed: <code>${text(url)}</code>. Nothing more is sent there.`
      : `🔐 ${count} webhook endpoints were removed. Nothing more is sent there.`,
  endpoint_secret_rotated: ({ url }, count) =>
    count === 1
      ? `🔐 The webhook secret of <code>${text(url)}</code> was rotated. The old one signs as well for 24 hours.`
      : `🔐 Webhook secrets were rotated ${count} times. Each old one signs as well for 24 hours.`,
  member_joined: ({ name, role }, count) =>
    count === 1
      ? `👤 ${text(name)} joined the team as ${roles[role as MemberRole] ?? text(role)}.`
      : `👤 ${count} people joined the team.`,
  member_removed: ({ name }, count) =>
    count === 1 ? `👤 ${text(name)} is no longer in the team.` : `👤 People who left the team: ${count}.`,
  member_role_changed: ({ name, role }, count) =>
    count === 1
      ? `👤 ${text(name)} has a new role: ${roles[role as MemberRole] ?? text(role)}.`
      : `👤 Team roles were changed ${count} times.`,
  live_approved: () => '🎉 Live mode is approved. An owner can now create live keys.',
  live_refused: (_details, _count, support) =>
    `Live mode was not approved. Test mode keeps working. ${toSupport(support, 'If it is approved later, we will notify you here.', 'Ask support for the reason')}`,
  maintenance_planned: ({ from, until }) =>
    `🗓 Scheduled maintenance: from ${moment(from)} to ${moment(until)}. We will not accept new payments during this time.`,
  maintenance_cancelled: ({ from, until }) =>
    `✅ The maintenance scheduled from ${moment(from)} to ${moment(until)} is cancelled.`,
  maintenance_on: () => '🔧 Maintenance: new payments are not accepted. Payments in progress continue.',
  maintenance_off: () => '✅ Maintenance is over. Payments are accepted again.',
  rate_stale: () => '📉 The exchange rate is out of date: payments are not accepted until it is updated.',
  rate_fresh: () => '📈 The exchange rate is updated. Payments are accepted again.',
};

const topics: Record<MutableTopic, string> = {
  delivery: 'Undelivered events',
  sending: 'Webhooks suspended or resumed',
  review: 'Delayed payments',
  low: 'Low balance',
  credited: 'Top-ups',
  report: 'Monthly report, if it is on',
  maintenance: 'Maintenance',
  rate: 'Rate out of date',
};

/** Status, detail and error code as in the API, without repetition. */
export const stateOf = ({ status, statusDetail, errorCode }: ShownPayment) =>
  [...new Set([status, statusDetail, errorCode])].filter(Boolean).join(', ');

export const signs: Record<ShownPayment['status'], string> = {
  processing: '⏳',
  succeeded: '✅',
  failed: '❌',
  rejected: '❌',
};
export const marked = (text: string, chosen: boolean) => (chosen ? `· ${text} ·` : text);

const meanings: Record<ShownPayment['status'] | 'manual_review', string> = {
  processing: 'Waiting for a response from the bank. Do not pay again.',
  manual_review: 'The bank has not confirmed the result yet. We keep checking. Do not pay again.',
  succeeded: 'Paid. This status is final.',
  failed: 'Not paid. The USDT were returned to the balance. This status is final.',
  rejected: 'Rejected. Nothing was debited.',
};

export const en = {
  name: '🇬🇧 English',
  chooseLanguage: 'Choose a language:',
  welcome:
    '<b>Kopeck</b> pays SBP QR codes in rubles and debits your USDT balance. Everything works through an API.\n\nSign up and make your first test payment in two minutes. If you were invited to a team, open the invitation link.',
  cancel: '✖️ Cancel',
  back: '⬅️ Back',
  menu: '🏠 Menu',
  support: '💬 Support',
  refresh: '🔄 Refresh',
  failed: 'Something went wrong on our side. Please try again.',
  tooManyChanges: 'You have made too many changes today. Please try again tomorrow (UTC).',
  tooFast: 'Too many requests. Please wait a few seconds.',
  forwarded: 'Forwarded messages are not accepted. Please type your answer.',
  onlyText: 'I can only read text and images of QR codes. Please type your answer or press a button above.',
  outdated: 'This button was already used or has expired.',
  notYours: 'This button is not for you.',
  noMember: "You are not a member of this partner's team.",
  notAllowed: (right: MemberRight) =>
    `Required role: ${oneOf.format(rolesWith(right).map(role => roles[role]))}.`,
  about: (partner: string, html: string) => `<b>${e(partner)}</b>\n${html}`,
  notices,
  topics,
  secret: {
    coming: '🔒 One moment…',
    goesAway: (seconds: number) => `<i>This message will be deleted in ${seconds} seconds.</i>`,
    hide: '🙈 Hide now',
  },
  signUp: {
    button: '🚀 Sign up',
    askName: 'What is the name of your company or shop?',
    badName: 'The name must be one line of 1 to 128 characters. Please try again.',
    tooMany: 'You have reached the maximum number of partners per person.',
    tooManyToday: 'You have reached the daily sign-up limit. Please try again tomorrow.',
    done: (name: string) =>
      `<b>${e(name)}</b> is signed up and has 10,000 test USDT. We will review your request for live mode and notify you here.\n\nNext step: create a test key.`,
    firstKey: '🔑 Create a test key',
    firstPayment: (url: string) =>
      [
        'Your first test payment: copy this into a terminal and replace <code>KEY</code> with your key.',
        `<pre>curl -sw '\\n' ${e(url)}/v1/payments \\\n  -H "Authorization: Bearer KEY" \\\n  -H "Idempotency-Key: order-1" \\\n  -H "Content-Type: application/json" \\\n  -d '{"qr_url":"${sampleLink}"}'</pre>`,
        `In test mode, amounts ending in .01 are declined; .02 stay in processing for 30 seconds; .03 return qr_changed; all others succeed. Documentation: ${e(url)}/docs`,
      ].join('\n\n'),
  },
  partner: {
    home: (
      { name, partnerId, liveApproved, suspended: isSuspended }: Partner,
      role: MemberRole,
      support: SupportUrl,
    ) =>
      [
        `<b>${e(name)}</b>`,
        `<code>${partnerId}</code>`,
        `Your role: ${roles[role]}`,
        `Live mode: ${liveApproved ? 'approved' : 'pending approval'}`,
        ...(isSuspended ? [`⛔ ${suspended(support)}`] : []),
      ].join('\n'),
    others: '🔀 Switch partner',
    choose: 'Choose a partner:',
    suspended,
    suspendedKeys: 'This partner is suspended: it gets no new keys.',
  },
  portal: {
    button: '🖥 Portal',
    link: (url: string) =>
      `Your link to the portal: ${e(url)}\n\nIt works once, within 10 minutes, and signs you in. Do not forward it.`,
    inTelegram: '📱 Open here',
    inBrowser: '🌐 Open in the browser',
  },
  keys: {
    button: '🔑 Keys',
    create: (mode: Mode) => `➕ ${mode === 'live' ? 'Live' : 'Test'} key`,
    name: ({ keyId, mode }: ApiKey) => `${mode === 'live' ? '🟢' : '🧪'} ${keyId}`,
    list: (keys: ApiKey[]) =>
      keys.length === 0
        ? 'There are no active keys.'
        : `Active keys:\n${keys.map(key => `• <code>${key.keyId}</code> ${key.mode}, last used: ${key.lastUsedAt ? time(key.lastUsedAt) : 'never'}`).join('\n')}`,
    details: (key: ApiKey) =>
      [
        `Key <code>${key.keyId}</code> (${key.mode})`,
        `Created: ${time(key.createdAt)}`,
        `Last used: ${key.lastUsedAt ? time(key.lastUsedAt) : 'never'}`,
        `Allowed IP addresses: ${e(clip(key.allowedAddresses.join(', '), 1_000) || 'any')}`,
        `Scopes: ${key.rights.scopes.join(', ')}`,
        ...(key.label ? [`Label: ${e(key.label)}`] : []),
        ...(key.rights.maxKopecks === null ? [] : [`Limit per payment: ${rub(key.rights.maxKopecks)} RUB`]),
        ...(key.rights.dailyKopecks === null ? [] : [`Limit per day: ${rub(key.rights.dailyKopecks)} RUB`]),
        ...(key.expiresAt ? [`Expires: ${time(key.expiresAt)}`] : []),
        ...(key.rolledTo ? [`Rolled: the new key is <code>${key.rolledTo}</code>`] : []),
      ].join('\n'),
    createLimited: '➕ Key with limits',
    askScope:
      'What may the key do?\n• <b>read</b>: see balance, payments, rates and quotes\n• <b>pay</b>: create payments',
    scopeButton: (mode: Mode, scope: Scope | 'both') =>
      `${mode === 'live' ? '🟢 Live' : '🧪 Test'}: ${scope === 'both' ? 'read + pay' : scope}`,
    askExpiry: 'In how many days should the key expire? Type a number from 1 to 9999, or press the button.',
    badExpiry:
      'This is not a number of days from 1 to 9999. Type a number such as <code>90</code>, or press the button.',
    noExpiry: '♾ Never',
    askLimits:
      'How much may the key spend, in rubles? Type the limit per payment and the limit per day (UTC), such as <code>5000 50000</code>; 0 means no limit. Or press the button.',
    badLimits:
      'These are not two amounts in rubles. Type the limit per payment and the limit per day, such as <code>5000 50000</code>, or press the button.',
    noLimits: '🚫 No limits',
    askLabel: 'What is the key for? Type a label such as <code>Till 4</code>, or press the button.',
    badLabel: 'A label is one line of up to 128 characters. Please type another one, or press the button.',
    noLabel: '➖ No label',
    roll: '♻️ Roll',
    askOverlap: ({ keyId, mode }: ApiKey) =>
      `Roll the ${mode} key <code>${keyId}</code>: you get a new key with the same rights. How long should the old one stay valid?`,
    overlap: (hours: number) => (hours === 1 ? '1 hour' : hours === 168 ? '7 days' : `${hours} hours`),
    askRoll: ({ keyId, mode }: ApiKey, hours: number) =>
      `Create a new key in place of the ${mode} key <code>${keyId}</code>? The old key will expire in ${hours === 1 ? '1 hour' : hours === 168 ? '7 days' : `${hours} hours`}. This cannot be undone.`,
    alreadyRolled: 'This key was already rolled.',
    askAddresses: (mode: Mode) =>
      `New ${mode} key. Which IP addresses may use it? Type addresses or ranges, such as <code>192.0.2.7, 2001:db8::/32</code>, or press the button.`,
    anyAddress: '🌍 Any IP address',
    badAddresses:
      'This is not a list of 1 to 20 IP addresses. Type a list such as <code>192.0.2.7, 198.51.100.0/24</code>, or press the button.',
    created: (key: string) =>
      `Your key, shown only once:\n<code>${key}</code>\nKeep it like a password: we do not store it and cannot show it again.`,
    tooMany: (count: number) =>
      `You have ${count} active keys in this mode, the maximum. Revoke one that you do not need.`,
    tooManyRolled: (count: number) =>
      `${count} rolled keys of this mode are still valid, the maximum. Revoke one of them first.`,
    tooManyChanges:
      'The keys were changed too often today. Try again tomorrow (UTC). A key can still be revoked.',
    notApproved: 'Live mode is not approved yet. Your request is under review.',
    allow: '✏️ Change IP addresses',
    askAllowed: ({ keyId, mode }: ApiKey) =>
      `Which IP addresses may use the ${mode} key <code>${keyId}</code>? Type the full list, such as <code>192.0.2.7, 2001:db8::/32</code>, or press the button. Requests from other addresses will be rejected immediately.`,
    allowed: 'Allowed IP addresses changed.',
    revoke: '🗑 Revoke',
    askRevoke: ({ keyId, mode }: ApiKey) =>
      `Revoke the ${mode} key <code>${keyId}</code>? Requests with it will be rejected immediately. This cannot be undone.`,
    revoked: 'Key revoked.',
  },
  webhook: {
    button: '📬 Webhook',
    none: 'No webhook is set. Set the URL that will receive payment events.',
    set: '✏️ Set URL',
    askAddress: 'Type the URL, such as <code>https://example.com/webhook</code>.',
    badAddress:
      'This URL cannot be used. It must start with https://, have a public host, port 443 or above 1023, and no user name, password or #. Please type another one.',
    saved: 'The URL is saved. Press Check to test your endpoint.',
    state: (webhook: Webhook) =>
      [
        `URL: <code>${e(webhook.url)}</code>`,
        ...(webhook.mode ? [`Mode: ${webhook.mode}`] : []),
        `Status: ${webhook.state === 'active' ? '✅ active' : '⛔ suspended; press Check to resume'}`,
        `Pending events: ${webhook.waiting}`,
        `Failed permanently: ${webhook.givenUp}`,
      ].join('\n'),
    refunds: (isOn: boolean): string => (isOn ? '↩️ Refund events: on' : '↩️ Refund events: off'),
    add: '➕ Add an endpoint',
    added:
      'The endpoint is added and gets events from now on. It has its own secret. Press Check to test it.',
    tooMany: 'There are five endpoints in this mode already. Remove one first.',
    askMode: 'Which payments should the new endpoint get events of?',
    modes: { live: 'Live', test: 'Test' },
    endpoints: (endpoints: Webhook[]) =>
      [
        'Endpoints:',
        ...endpoints.map(
          ({ url, mode, state }, index) =>
            `${index + 1}. ${state === 'active' ? '✅' : '⛔'} <code>${e(url)}</code> (${mode ?? 'live and test'})`,
        ),
      ].join('\n'),
    open: (number: number, { mode }: Webhook): string => `${number}. ${mode ?? 'live and test'}`,
    kind: (kind: EventKind, isOn: boolean): string => `${isOn ? '☑️' : '⬜'} ${kind}`,
    lastKind: 'The endpoint needs at least one kind of event. You can remove it instead.',
    remove: '🗑 Remove',
    askRemove: ({ url, waiting }: Webhook) =>
      `Remove <code>${e(url)}</code>? Its secret and the events that wait for it (${waiting}) are removed too.`,
    removed: 'The endpoint is removed.',
    check: '🧪 Check',
    checking: 'Checking…',
    secret: '👁 Secret',
    secrets: ([secret, old]: string[]) =>
      `Webhook signing secret:\n<code>${secret}</code>${old ? `\nPrevious secret, still valid:\n<code>${old}</code>` : ''}`,
    rotate: '♻️ Rotate secret',
    askRotate:
      'Create a new secret? The current one stays valid for another 24 hours. This cannot be undone.',
    overlap: 'The previous secret is still valid. You can rotate the secret again when it expires.',
    log: '📜 Log',
    attempts: (attempts: Attempt[]) =>
      attempts.length === 0
        ? 'No delivery attempts in the last 30 days.'
        : `Latest attempts:\n${attempts.map(one => `• ${time(one.at)} <code>${formatEventId(one.eventId)}</code> #${one.attempt}: ${e(responseText(one))}, ${one.durationMs} ms`).join('\n')}`,
    resend: (event: string) => `🔁 Resend ${event}`,
    queued: 'The event is being resent.',
    queuedSuspended: 'The event will be sent after a successful check.',
    noEvent: 'There is no such event, or no webhook is set.',
    checkResult: ({ results, canReceive, passed, tls }: WebhookCheck, reEnabled: boolean) =>
      [
        '<b>Webhook check</b>',
        ...results.map(one =>
          one.passed
            ? `✅ ${e(probeName(one.name))}: ${one.expected === 'accept' ? 'accepted' : 'rejected'}, response: ${e(responseText(one))}`
            : `❌ ${e(problemText(one) ?? '')}`,
        ),
        ...(tls ? [`TLS: ${tls.protocol}, certificate valid until ${time(new Date(tls.validUntil))}`] : []),
        passed
          ? 'Your endpoint accepts valid events and rejects all others.'
          : canReceive
            ? 'Your endpoint accepts valid events, but some checks failed.'
            : 'Your endpoint does not accept valid events. Fix it and check again.',
        ...(reEnabled ? ['Webhooks were suspended and are active again.'] : []),
      ].join('\n'),
  },
  balance: {
    button: '💰 Balance',
    state: (balances: BalancesOfBoth, limits: Limits, mark: bigint | undefined) =>
      [
        `Live: <b>${usdt(balances.live.availableMicroUsdt)}</b> USDT, on hold ${usdt(balances.live.heldMicroUsdt)}`,
        `Test: <b>${usdt(balances.test.availableMicroUsdt)}</b> USDT, on hold ${usdt(balances.test.heldMicroUsdt)}`,
        '',
        `Amount per payment: ${rub(limits.minKopecks)} to ${rub(limits.maxKopecks)} RUB`,
        `Daily limit: ${limits.dailyKopecks === null ? 'none' : `${rub(limits.dailyKopecks)} RUB`}`,
        `Concurrent payments: ${limits.concurrent}; new payments per second: ${limits.createRps}`,
        `Low-balance alert: ${mark === undefined ? 'off' : `below ${usdt(mark)} USDT`}`,
      ].join('\n'),
    topUp: '➕ Top up',
    howToTopUp: (partnerId: string, support: SupportUrl) =>
      `There is no deposit address to send USDT to. ${toSupport(support, 'Come back later; the test balance can be refilled once a day.', 'Tell support how many USDT you want to send and on which network')}\n\nYour partner ID: <code>${partnerId}</code>\nWe will notify you here when a top-up is credited.`,
    topUpAfterApproval:
      'Deposit addresses appear here after live mode is approved: deposits are real money. Until then, pay with the test balance.',
    explorer: '🔎 Address in the explorer',
    chooseNetwork: 'On which network do you send USDT?',
    sendTo: ({ chain, address }: DepositAddress) =>
      [
        `Send USDT on the <b>${e(chain.network)}</b> network to this address. It is yours and does not change:`,
        `<code>${e(address)}</code>`,
        '',
        'This is real money: it tops up the live balance.',
        `Minimum deposit: ${usdt(chain.minMicroUsdt)} USDT. Smaller amounts are added up and credited once they reach it.`,
        `A deposit is usually credited in about ${chain.usualMinutes} min. We will notify you here.`,
        '',
        '⚠️ Other tokens, and USDT on other networks, are not credited and may be lost.',
      ].join('\n'),
    history: '📜 Top-up history',
    credits: (credits: PastCredit[]) =>
      credits.length === 0
        ? 'No top-ups yet.'
        : `Latest top-ups:\n${credits.map(one => `• ${time(one.at)} ${one.mode}: ${usdt(one.microUsdt)} USDT, ${e(one.reference)}`).join('\n')}`,
    refill: '🧪 Refill test balance',
    refilled: '10,000 test USDT added.',
    notAgainToday: 'The test balance can be refilled once a day.',
    setMark: '🪫 Low-balance alert',
    askMark: 'At what live balance (USDT) should we alert the team? Type a number, such as 250.',
    badMark: 'Type a positive number with at most 6 decimal places, such as 250 or 99.5.',
    noMark: '🔕 No alert',
  },
  payments: {
    button: '🧾 Payments',
    line: (payment: ShownPayment) =>
      clip(
        `${signs[payment.status]} ${rub(payment.amountKopecks)} ₽ ${payment.externalId ?? payment.recipient}`,
        60,
      ),
    recent: ({ mode, status }: PaymentFilter, count: number) =>
      count === 0
        ? `There are no ${mode} payments${status ? ` with status ${status}` : ' yet'}.`
        : `Latest ${mode} payments${status ? ` with status ${status}` : ''}:`,
    before: ({ mode, status }: PaymentFilter, last: Date) =>
      `${mode === 'live' ? 'Live' : 'Test'} payments${status ? ` with status ${status}` : ''}, ${time(last)} and earlier:`,
    only: (status: PaymentStatus | undefined, chosen: boolean) =>
      marked(status ? signs[status] : 'All', chosen),
    newer: '◀️ Newer',
    older: 'Older ▶️',
    otherMode: (mode: Mode): string => (mode === 'live' ? '🟢 Live' : '🧪 Test'),
    find: '🔎 Find',
    askName: 'Type a payment ID (<code>pay_…</code>) or your <code>external_id</code>.',
    notFound: 'No payment found with this ID or external_id. Please type another one.',
    several: 'Several payments have this external_id:',
    gone: 'Payment not found.',
    details: (payment: ShownPayment, refunded?: Refunded) =>
      [
        `<code>${payment.paymentId}</code> (${payment.mode})`,
        `Status: <b>${stateOf(payment)}</b>`,
        meanings[payment.statusDetail === 'manual_review' ? 'manual_review' : payment.status],
        `Amount: ${rub(payment.amountKopecks)} RUB = ${usdt(payment.microUsdt)} USDT at the rate of ${rate(payment.rateE4)}`,
        ...(refunded ? [`Refunded: ${rub(refunded.kopecks)} RUB = ${usdt(refunded.microUsdt)} USDT`] : []),
        `Recipient: ${e(payment.recipient)}`,
        ...(payment.externalId ? [`external_id: <code>${e(payment.externalId)}</code>`] : []),
        `Created: ${time(payment.createdAt)}`,
        ...(payment.settledAt ? [`Completed: ${time(payment.settledAt)}`] : []),
      ].join('\n'),
  },
  rate: {
    button: '📈 Rate',
    chart: { title: 'USDT/RUB, 24 h', formatRate: rate },
    none: 'There is no rate yet.',
    now: (rate: string, asOf: Date, stale: boolean) =>
      `<b>${amount(rate)}</b> RUB for 1 USDT\nAs of ${time(asOf)}${stale ? '\n⚠️ Out of date: payments are not accepted until the rate is updated.' : ''}`,
  },
  qr: {
    resolved: ({ mode, recipient, purpose, rub, usdt, blocked }: Resolved) =>
      [
        `Recipient: <b>${e(recipient)}</b>`,
        ...(purpose ? [`Purpose: ${e(purpose)}`] : []),
        `Amount: <b>${amount(rub)}</b> RUB`,
        usdt
          ? `At the current rate: <b>${amount(usdt)}</b> USDT`
          : 'The rate is out of date. The amount in USDT is not available.',
        ...(blocked ? ['⛔ Payments to this recipient are blocked.'] : []),
        ...(mode === 'test' ? ['Test mode: the recipient is fictitious.'] : []),
        'Nothing was paid.',
      ].join('\n'),
    refused: {
      invalid_qr: 'This is not an SBP QR code link, or the code has expired.',
      unsupported_qr: 'This code is for a subscription or account binding and cannot be paid.',
      unsupported_variable_amount: 'This code has no fixed amount.',
      qr_unresolvable: 'The details of this code could not be obtained. Please try again later.',
      gateway_busy: 'Too many QR codes are being checked at once. Please try again later.',
      gateway_unavailable: 'The payment gateway is not responding. Please try again later.',
    },
    noCode: 'There is no readable QR code in this image. Send a sharper one or send the link.',
    tooLarge:
      'This image is too large. Send one with at most 12 megapixels (PNG: 8 bits per channel), or send the link.',
    busy: 'Too many images at once. Please try again in a minute.',
  },
  team: {
    button: '👥 Team',
    list: (members: { name: string; role: MemberRole }[], more: number) =>
      `Members:\n${members.map(({ name, role }) => `• ${e(clip(name, 32))}, ${roles[role]}`).join('\n')}${more > 0 ? `\n… and ${more} more` : ''}\n\nViewers have read-only access. Accountants see money only: no webhooks. Payers also pay by hand in the portal. Developers also manage test keys and webhooks. Owners manage everything.`,
    invite: (role: MemberRole) => `➕ Invite: ${roles[role]}`,
    invitation: (partner: string, role: MemberRole, link: string) =>
      `Invitation to <b>${e(partner)}</b> as ${roles[role]}, for one person, valid for 24 hours:\n${e(link)}`,
    noInvitation: 'This invitation was already used, has expired or does not exist. Ask for a new one.',
    joined: (partner: string) => `Welcome to <b>${e(partner)}</b>.`,
    alreadyMember: (partner: string) => `You are already a member of <b>${e(partner)}</b>.`,
    remove: (name: string) => clip(`🗑 Remove ${name}`, 60),
    leave: '🚪 Leave',
    askRemove: (name: string, partner: string) =>
      `Remove ${e(name)} from <b>${e(partner)}</b>? They will lose access immediately. Keys they have stay active: revoke them.`,
    askLeave: (partner: string) => `Leave <b>${e(partner)}</b>? You will need a new invitation to come back.`,
    removed: 'Done.',
    left: (partner: string) => `You left <b>${e(partner)}</b>.`,
    lastOwner: 'A team needs an owner. Make someone else an owner first.',
    role: (name: string, role: MemberRole) => clip(`🎭 ${name}: ${roles[role]}`, 60),
    chooseRole: (name: string, role: MemberRole) =>
      `${e(name)}, current role: ${roles[role]}. Choose a new role:`,
    newRole: (role: MemberRole) => `➡️ ${roles[role]}`,
    askRole: (name: string, role: MemberRole, partner: string) =>
      `Change the role of ${e(name)} in <b>${e(partner)}</b> to ${roles[role]}? It takes effect immediately.`,
    roleChanged: 'Role changed.',
    full: (partner: string, max: number) =>
      `The team of <b>${e(partner)}</b> is full: ${max} members. Ask an owner to remove someone, then open the invitation again.`,
  },
  settings: {
    button: '⚙️ Settings',
    text: 'Which notifications do you want? Security notifications cannot be muted.',
    language: '🌐 Язык / Language',
  },
  /** The staff chat. The titles of alarms are those of the console. */
  staff: {
    open: 'Open in the console',
    signedUp: (partner: string, partnerId: string) =>
      `<b>${e(partner)}</b> signed up (<code>${partnerId}</code>) and requests live mode.`,
    approve: 'Approve',
    refuse: 'Reject',
    approved: (partner: string) => `${partner} can now create live keys.`,
    refused: (partner: string) => `${partner} stays in test mode.`,
    wasApproved: 'The partner was already approved.',
    noPartner: 'There is no such partner.',
    clear: 'Clear',
    cleared: 'Alarm cleared.',
    wasCleared: 'The alarm was already cleared.',
    noAction: 'This button does not work here.',
  },
};

export const sampleLink =
  'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&amp;bank=100000000004&amp;sum=30510&amp;cur=RUB&amp;crc=B754';

export type Texts = typeof en;
