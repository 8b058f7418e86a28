import { formatKopecks, formatMicroUsdt, formatRate } from '../../base/money.ts';
import type { NoticeKind } from '../../db/notices.ts';
import type { Balances, Mode, PastCredit } from '../../ledger/index.ts';
import type { ApiKey, Limits, MemberRole, Partner } from '../../partners/index.ts';
import type { Payment, PaymentStatus } from '../../payments/index.ts';
import { type Certificate, formatEventId, type listAttempts, type Webhook } from '../../webhooks/index.ts';
import { clip, escapeHtml as e, formatTime } from '../conversation/screen.ts';
import type { NoticeDetails } from '../notices/outbox.ts';
import type { MutableTopic } from '../notices/topics.ts';

export type Attempt = Awaited<ReturnType<typeof listAttempts>>[number];
export type Resolved = {
  mode: Mode;
  recipient: string;
  purpose: string;
  rub: string;
  usdt: string | undefined;
  blocked: boolean;
};
/** What somebody looks at: all payments of a mode, or those in one state. */
export type PaymentFilter = { mode: Mode; status?: PaymentStatus };
export type Notices = Record<NoticeKind, (details: NoticeDetails, count: number) => string>;
export type BalancesOfBoth = Record<Mode, Balances>;

const text = (value: NoticeDetails[string] | undefined) => e(`${value ?? ''}`);
const roles = { viewer: 'viewer', developer: 'developer', owner: 'owner' };
const named = (details: NoticeDetails) => (details.external_id ? ` (${text(details.external_id)})` : '');

const notices: Notices = {
  delivery_failed: ({ event_id }, count) =>
    count === 1
      ? `📭 Event <code>evt_${text(event_id)}</code> was not delivered: nine attempts failed. See Webhook → Log.`
      : `📭 ${count} events were not delivered: nine attempts each failed. See Webhook → Log.`,
  sending_suspended: () =>
    '⛔ Sending of webhooks is suspended: three events in a row were not delivered. Mend the receiver, then press Webhook → Check. Nothing is lost: events are kept.',
  sending_re_enabled: () => '✅ Sending of webhooks goes on, with what was kept.',
  payment_in_review: (details, count) =>
    count === 1
      ? `⏳ Payment <code>${text(details.payment_id)}</code>${named(details)} of ${text(details.amount_rub)} RUB takes long: the bank has not given its final answer. Do not repeat it; we go on asking.`
      : `⏳ ${count} payments take long: the bank has not given its final answer. Do not repeat them; we go on asking.`,
  payment_review_ended: (details, count) =>
    count === 1
      ? `🏁 Payment <code>${text(details.payment_id)}</code>${named(details)} has ended: ${text(details.status)}.`
      : `🏁 ${count} payments that took long have ended.`,
  balance_low: ({ balance_usdt, mark_usdt }) =>
    `🪫 The live balance is low: ${text(balance_usdt)} USDT, below ${text(mark_usdt)}.`,
  balance_credited: ({ mode, usdt, balance_usdt }, count) =>
    count === 1
      ? `💰 Credited: ${text(usdt)} USDT. The ${text(mode)} balance is ${text(balance_usdt)} USDT.`
      : `💰 ${count} credits. The ${text(mode)} balance is ${text(balance_usdt)} USDT.`,
  key_created: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 A ${text(mode)} key was created by somebody else: <code>${text(key_id)}</code>. If that is not right, revoke it under Keys.`
      : `🔐 ${count} keys were created. If that is not right, revoke them under Keys.`,
  key_revoked: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 The ${text(mode)} key <code>${text(key_id)}</code> was revoked by somebody else.`
      : `🔐 ${count} keys were revoked.`,
  key_addresses_changed: ({ key_id, mode }, count) =>
    count === 1
      ? `🔐 Somebody else changed from which addresses the ${text(mode)} key <code>${text(key_id)}</code> may be used. If that is not right, see Keys.`
      : `🔐 The allowed addresses of keys were changed ${count} times. If that is not right, see Keys.`,
  member_joined: ({ name, role }, count) =>
    count === 1
      ? `👤 ${text(name)} joined as ${roles[role as MemberRole] ?? text(role)}.`
      : `👤 ${count} people joined.`,
  member_removed: ({ name }, count) =>
    count === 1 ? `👤 ${text(name)} is no longer a member.` : `👤 ${count} people are no longer members.`,
  member_role_changed: ({ name, role }, count) =>
    count === 1
      ? `👤 ${text(name)} is ${roles[role as MemberRole] ?? text(role)} now.`
      : `👤 Roles in the team were changed ${count} times.`,
  live_approved: () => '🎉 Live mode is approved: an owner can create live keys now.',
  live_refused: () => 'Live mode was not approved. Test mode stays as it is; ask support for the reason.',
  maintenance_planned: ({ from, until }) =>
    `🗓 Maintenance is planned from ${formatTime(new Date(`${from}`))} until ${formatTime(new Date(`${until}`))}: new payments are not accepted then.`,
  maintenance_cancelled: ({ from, until }) =>
    `✅ The maintenance from ${formatTime(new Date(`${from}`))} until ${formatTime(new Date(`${until}`))} does not take place.`,
  maintenance_on: () => '🔧 Maintenance: new payments are not accepted for now. Those under way go on.',
  maintenance_off: () => '✅ Maintenance is over: payments are accepted again.',
  rate_stale: () => '📉 The exchange rate is out of date: payments are refused until it is fresh.',
  rate_fresh: () => '📈 The exchange rate is fresh again: payments are accepted.',
};

const topics: Record<MutableTopic, string> = {
  delivery: 'Event not delivered',
  sending: 'Webhooks suspended and resumed',
  review: 'Payments that take long',
  low: 'Low balance',
  credited: 'Balance credited',
  maintenance: 'Maintenance',
  rate: 'Rate out of date',
};

/** As the API has it, each word once. */
export const stateOf = ({ status, statusDetail, errorCode }: Payment) =>
  [...new Set([status, statusDetail, errorCode])].filter(Boolean).join(', ');

export const signs: Record<Payment['status'], string> = {
  processing: '⏳',
  succeeded: '✅',
  failed: '❌',
  rejected: '❌',
};
export const marked = (text: string, chosen: boolean) => (chosen ? `· ${text} ·` : text);

const states: Record<PaymentStatus, string> = {
  processing: 'under way',
  succeeded: 'paid',
  failed: 'not paid',
};

const meanings: Record<Payment['status'] | 'manual_review', string> = {
  processing: 'The bank is being asked. Wait; do not pay again.',
  manual_review: 'The outcome is not known yet. We go on asking the bank; do not pay again.',
  succeeded: 'Paid. This is final.',
  failed: 'Not paid, and the USDT is back on the balance. This is final.',
  rejected: 'Refused before anything happened.',
};

export const en = {
  name: '🇬🇧 English',
  chooseLanguage: 'Choose a language:',
  welcome:
    '<b>Kopeck</b> pays SBP QR codes in rubles from a USDT balance, by API.\n\nSign up and make a first test payment in two minutes. If somebody invited you to their team, open their link.',
  cancel: '✖️ Cancel',
  back: '⬅️ Back',
  menu: '🏠 Menu',
  refresh: '🔄 Refresh',
  failed: 'Something failed on our side. Please try again.',
  tooFast: 'Too fast: please wait a few seconds.',
  forwarded: 'A forwarded message is no answer: please type it yourself.',
  onlyText: 'I only read text and pictures of QR codes: please type your answer, or press a button above.',
  outdated: 'This button has been used or is out of date.',
  notYours: 'This button is not for you.',
  noMember: 'You are not a member of this partner.',
  notAllowed: (role: MemberRole) => `Only for the role ${roles[role]} or above.`,
  about: (partner: string, html: string) => `<b>${e(partner)}</b>\n${html}`,
  notices,
  topics,
  secret: {
    coming: '🔒 One moment …',
    goesAway: (seconds: number) => `<i>This message goes away in ${seconds} seconds.</i>`,
    hide: '🙈 Hide now',
  },
  signUp: {
    button: '🚀 Sign up',
    askName: 'What is your company or shop called? Type its name.',
    badName: 'The name must be one line of 1 to 128 characters. Type it again.',
    tooMany: 'You own as many partners as one person may.',
    tooManyToday: 'That is enough for one day: please sign up the next one tomorrow.',
    done: (name: string) =>
      `<b>${e(name)}</b> is signed up, with 10 000 test USDT. Live mode is being approved by our staff; you will be told here.\n\nNext: a test key.`,
    firstKey: '🔑 Create a test key',
    firstPayment: (url: string) =>
      [
        'Your first test payment, to copy into a terminal (put the key in place of <code>KEY</code>):',
        `<pre>curl -s ${e(url)}/v1/payments \\\n  -H "Authorization: Bearer KEY" \\\n  -H "Idempotency-Key: order-1" \\\n  -H "Content-Type: application/json" \\\n  -d '{"qr_url":"${sampleLink}"}'</pre>`,
        `An amount that ends with ,01 is declined, with ,02 it is unknown for 30 seconds; anything else succeeds. Reference: ${e(url)}/docs`,
      ].join('\n\n'),
  },
  partner: {
    home: ({ name, partnerId, liveApproved, suspended }: Partner, role: MemberRole) =>
      [
        `<b>${e(name)}</b>`,
        `<code>${partnerId}</code>`,
        `Your role: ${roles[role]}`,
        `Live mode: ${liveApproved ? 'approved' : 'waiting for approval'}`,
        ...(suspended ? ['⛔ Suspended: write to support.'] : []),
      ].join('\n'),
    others: '🔀 Other partner',
    choose: 'Which partner?',
    suspended: 'The partner is suspended: write to support.',
  },
  keys: {
    button: '🔑 Keys',
    create: (mode: Mode) => `➕ ${mode === 'live' ? 'Live' : 'Test'} key`,
    name: ({ keyId, mode }: ApiKey) => `${mode === 'live' ? '🟢' : '🧪'} ${keyId}`,
    list: (keys: ApiKey[]) =>
      keys.length === 0
        ? 'There are no keys in force.'
        : `Keys in force:\n${keys.map(key => `• <code>${key.keyId}</code> ${key.mode}, last used: ${key.lastUsedAt ? formatTime(key.lastUsedAt) : 'never'}`).join('\n')}`,
    details: (key: ApiKey) =>
      [
        `Key <code>${key.keyId}</code> (${key.mode})`,
        `Created: ${formatTime(key.createdAt)}`,
        `Last used: ${key.lastUsedAt ? formatTime(key.lastUsedAt) : 'never'}`,
        `Allowed addresses: ${e(clip(key.allowedAddresses.join(', '), 1_000) || 'any')}`,
      ].join('\n'),
    askAddresses: (mode: Mode) =>
      `A new ${mode} key. From which addresses may it be used? Type IP addresses or ranges, such as <code>192.0.2.7, 2001:db8::/32</code>, or press the button.`,
    anyAddress: '🌍 Any address',
    badAddresses:
      'That is not a list of 1 to 20 addresses. Type them like <code>192.0.2.7, 198.51.100.0/24</code>, or press the button.',
    created: (key: string) =>
      `Your key, shown this once:\n<code>${key}</code>\nKeep it like a password: it is not stored and cannot be shown again.`,
    notApproved: 'Live mode is not approved yet: our staff has been asked.',
    allow: '✏️ Change addresses',
    askAllowed: ({ keyId, mode }: ApiKey) =>
      `From which addresses may the ${mode} key <code>${keyId}</code> be used? Type all of them, such as <code>192.0.2.7, 2001:db8::/32</code>, or press the button. Requests from elsewhere are refused at once.`,
    allowed: 'The allowed addresses are changed.',
    revoke: '🗑 Revoke',
    askRevoke: ({ keyId, mode }: ApiKey) =>
      `Revoke the ${mode} key <code>${keyId}</code>? Requests with it are refused at once. This cannot be undone.`,
    revoked: 'The key is revoked.',
  },
  webhook: {
    button: '📬 Webhook',
    none: 'No webhook is set. Events wait for nobody; set the address where we shall report finished payments.',
    set: '✏️ Set the address',
    askAddress: 'Type the address, such as <code>https://example.com/webhook</code>.',
    badAddress:
      'This address cannot be used. It must begin with https://, have a public host, port 443 or above 1023, and no user name, password or #. Type another.',
    saved: 'The address is saved. Press Check to see whether the receiver does all it should.',
    state: (webhook: Webhook) =>
      [
        `Address: <code>${e(webhook.url)}</code>`,
        `State: ${webhook.state === 'active' ? '✅ active' : '⛔ suspended; Check re-enables it'}`,
        `Waiting events: ${webhook.waiting}`,
        `Given up: ${webhook.givenUp}`,
      ].join('\n'),
    check: '🧪 Check',
    checking: 'Checking …',
    secret: '👁 Secret',
    secrets: ([secret, old]: string[]) =>
      `The secret that signs events:\n<code>${secret}</code>${old ? `\nThe one before, which signs too for now:\n<code>${old}</code>` : ''}`,
    rotate: '♻️ Rotate the secret',
    askRotate:
      'Make a new secret? The present one signs beside it for 24 hours and then ends. This cannot be undone.',
    overlap: 'The secret before this one still signs: wait until its 24 hours are over.',
    log: '📜 Log',
    attempts: (attempts: Attempt[]) =>
      attempts.length === 0
        ? 'Nothing was sent in the last 30 days.'
        : `Last attempts:\n${attempts.map(one => `• ${formatTime(one.at)} <code>${formatEventId(one.eventId)}</code> #${one.attempt}: ${one.status ?? one.error}, ${one.durationMs} ms`).join('\n')}`,
    resend: (event: string) => `🔁 Send ${event} again`,
    queued: 'It is sent again.',
    queuedSuspended: 'It will be sent again once Check has re-enabled sending.',
    noEvent: 'There is no such event, or no webhook.',
    certificate: ({ results, canReceive, passed, tls }: Certificate, reEnabled: boolean) =>
      [
        '<b>Webhook check</b>',
        ...results.map(
          one =>
            `${one.passed ? '✅' : '❌'} ${e(one.question)}: it should ${one.expected === 'accept' ? 'take it' : 'refuse it'}, it answered ${one.status ?? one.error}`,
        ),
        ...(tls ? [`TLS: ${tls.protocol}, certificate valid until ${e(tls.validUntil)}`] : []),
        passed
          ? 'The receiver takes valid events and refuses all others.'
          : canReceive
            ? 'The receiver takes valid events, but not all is as it should be.'
            : 'The receiver does not take a valid event: mend it and check again.',
        ...(reEnabled ? ['Sending was suspended and goes on now.'] : []),
      ].join('\n'),
  },
  balance: {
    button: '💰 Balance',
    state: (balances: BalancesOfBoth, limits: Limits, mark: bigint | undefined) =>
      [
        `Live: <b>${formatMicroUsdt(balances.live.availableMicroUsdt)}</b> USDT, held ${formatMicroUsdt(balances.live.heldMicroUsdt)}`,
        `Test: <b>${formatMicroUsdt(balances.test.availableMicroUsdt)}</b> USDT, held ${formatMicroUsdt(balances.test.heldMicroUsdt)}`,
        '',
        `One payment: ${formatKopecks(limits.minKopecks)} to ${formatKopecks(limits.maxKopecks)} RUB`,
        `Per day: ${limits.dailyKopecks === null ? 'no limit' : `${formatKopecks(limits.dailyKopecks)} RUB`}`,
        `At once: ${limits.concurrent} payments; ${limits.createRps} new ones a second`,
        `Warning: ${mark === undefined ? 'none' : `below ${formatMicroUsdt(mark)} USDT`}`,
      ].join('\n'),
    topUp: '➕ Top up',
    howToTopUp: (partnerId: string) =>
      `Write to support how many USDT you send and in which network; you get an address. Name your partner number, so that it is credited to you:\n<code>${partnerId}</code>\n\nYou are told here when it has arrived.`,
    history: '📜 History',
    credits: (credits: PastCredit[]) =>
      credits.length === 0
        ? 'Nothing was credited so far.'
        : `Last credits:\n${credits.map(one => `• ${formatTime(one.at)} ${one.mode}: ${formatMicroUsdt(one.microUsdt)} USDT, ${e(one.reference)}`).join('\n')}`,
    refill: '🧪 Refill test',
    refilled: '10 000 test USDT were added.',
    notAgainToday: 'The test balance is refilled once a day.',
    setMark: '🪫 Warn me',
    askMark: 'Below how many USDT on the live balance shall the team be warned? Type a number, such as 250.',
    badMark: 'Type a positive number with at most 6 decimal places, such as 250 or 99.5.',
    noMark: '🔕 No warning',
  },
  payments: {
    button: '🧾 Payments',
    line: (payment: Payment) =>
      clip(
        `${signs[payment.status]} ${formatKopecks(payment.amountKopecks)} ₽ ${payment.externalId ?? payment.recipient}`,
        60,
      ),
    recent: ({ mode, status }: PaymentFilter, count: number) =>
      count === 0
        ? `There are no ${mode} payments${status ? ` that are ${states[status]}` : ' yet'}.`
        : `The last ${mode} payments${status ? ` that are ${states[status]}` : ''}:`,
    before: ({ mode, status }: PaymentFilter, last: Date) =>
      `The ${mode} payments${status ? ` that are ${states[status]}` : ''}, ${formatTime(last)} and before:`,
    only: (status: PaymentStatus | undefined, chosen: boolean) =>
      marked(status ? signs[status] : 'All', chosen),
    newer: '◀️ Newer',
    older: 'Older ▶️',
    otherMode: (mode: Mode): string => (mode === 'live' ? '🟢 Live' : '🧪 Test'),
    find: '🔎 Find',
    askName: 'Type the id of a payment (<code>pay_…</code>) or your <code>external_id</code>.',
    notFound: 'No payment of yours has this id or external_id. Type another.',
    several: 'Several payments have this external_id:',
    gone: 'There is no such payment.',
    details: (payment: Payment) =>
      [
        `<code>${payment.paymentId}</code> (${payment.mode})`,
        `Status: <b>${stateOf(payment)}</b>`,
        meanings[payment.statusDetail === 'manual_review' ? 'manual_review' : payment.status],
        `Amount: ${formatKopecks(payment.amountKopecks)} RUB = ${formatMicroUsdt(payment.microUsdt)} USDT at ${formatRate(payment.rateE4)}`,
        `Recipient: ${e(payment.recipient)}`,
        ...(payment.externalId ? [`external_id: <code>${e(payment.externalId)}</code>`] : []),
        `Created: ${formatTime(payment.createdAt)}`,
        ...(payment.settledAt ? [`Ended: ${formatTime(payment.settledAt)}`] : []),
      ].join('\n'),
  },
  rate: {
    button: '📈 Rate',
    none: 'There is no rate yet.',
    now: (rate: string, asOf: Date, stale: boolean) =>
      `<b>${rate}</b> RUB for 1 USDT\nAs of ${formatTime(asOf)}${stale ? '\n⚠️ Out of date: payments are refused until it is fresh.' : ''}`,
  },
  qr: {
    resolved: ({ mode, recipient, purpose, rub, usdt, blocked }: Resolved) =>
      [
        `Recipient: <b>${e(recipient)}</b>`,
        ...(purpose ? [`Purpose: ${e(purpose)}`] : []),
        `Amount: <b>${rub}</b> RUB`,
        usdt ? `Costs now: <b>${usdt}</b> USDT` : 'The rate is out of date, so the cost is not known.',
        ...(blocked ? ['⛔ Payments to this recipient are forbidden.'] : []),
        ...(mode === 'test' ? ['This is test mode: the recipient is made up.'] : []),
        'Nothing was paid.',
      ].join('\n'),
    refused: {
      invalid_qr: 'This is not a link of an SBP QR code, or the code has expired.',
      unsupported_qr: 'This is a subscription or binding code: it cannot be paid.',
      unsupported_variable_amount: 'This code carries no fixed amount.',
      qr_unresolvable: 'The bank could not tell what this code is for. Try again later.',
      gateway_unavailable: 'The bank side does not answer at the moment. Try again later.',
    },
    noCode: 'There is no readable QR code in this picture. Send it sharper, or send the link.',
    busy: 'Too many pictures at once: please try again in a minute.',
  },
  team: {
    button: '👥 Team',
    list: (members: { name: string; role: MemberRole }[], more: number) =>
      `Members:\n${members.map(({ name, role }) => `• ${e(clip(name, 32))}, ${roles[role]}`).join('\n')}${more > 0 ? `\n… and ${more} more` : ''}\n\nViewers see, developers also manage test keys and webhooks, owners everything.`,
    invite: (role: MemberRole) => `➕ Invite: ${roles[role]}`,
    invitation: (partner: string, role: MemberRole, link: string) =>
      `An invitation to <b>${e(partner)}</b> as ${roles[role]}. It lets one person in and ends in 24 hours:\n${e(link)}`,
    noInvitation: 'This invitation has been used, has ended or never was. Ask for another.',
    joined: (partner: string) => `Welcome to <b>${e(partner)}</b>.`,
    alreadyMember: (partner: string) => `You are a member of <b>${e(partner)}</b> already.`,
    remove: (name: string) => clip(`🗑 Remove ${name}`, 60),
    leave: '🚪 Leave',
    askRemove: (name: string, partner: string) =>
      `Remove ${e(name)} from <b>${e(partner)}</b>? They lose access at once. Keys that they know stay in force: revoke those.`,
    askLeave: (partner: string) => `Leave <b>${e(partner)}</b>? Only an invitation lets you in again.`,
    removed: 'Done.',
    left: (partner: string) => `You have left <b>${e(partner)}</b>.`,
    lastOwner: 'The last owner has to stay one: make somebody else an owner first.',
    role: (name: string, role: MemberRole) => clip(`🎭 ${name}: ${roles[role]}`, 60),
    chooseRole: (name: string, role: MemberRole) =>
      `${e(name)} is ${roles[role]} now. Which role shall it be?`,
    newRole: (role: MemberRole) => `➡️ ${roles[role]}`,
    askRole: (name: string, role: MemberRole, partner: string) =>
      `Make ${e(name)} ${roles[role]} of <b>${e(partner)}</b>? It takes effect at once.`,
    roleChanged: 'The role is changed.',
    full: (partner: string, most: number) =>
      `The team of <b>${e(partner)}</b> is full: ${most} members. Ask an owner to remove somebody, then open the invitation again.`,
  },
  settings: {
    button: '⚙️ Settings',
    text: 'What shall the bot tell you by itself? Security cannot be muted.',
    language: '🌐 Язык / Language',
  },
};

export const sampleLink =
  'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&amp;bank=100000000004&amp;sum=30510&amp;cur=RUB&amp;crc=B754';

export type Texts = typeof en;
