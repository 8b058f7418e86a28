import type { MemberRole } from '../../../../src/portal/shapes/access.ts';

const errors: Record<string, string> = {
  no_connection: 'The service cannot be reached. Retrying…',
  no_answer:
    'The connection was lost before the response arrived. The action may have been completed: check the current state before you try again.',
  signed_out: 'Your session has ended. Open a new link from the bot.',
  no_link:
    'This link was already used, replaced by a newer one, or is older than 10 minutes. Get a new one from the bot.',
  throttled: 'Too many requests.',
  rate_limited: 'Too many requests. Try again in a moment.',
  forbidden: 'Your role in the team does not allow this.',
  csrf: 'This page is out of date. Reload it and try again.',
  no_partner: 'You are no longer in the team of this partner.',
  not_found: 'Not found. It may have been deleted.',
  invalid_request: 'The form has an error.',
  unavailable: 'The service is temporarily unavailable.',
  partner_suspended: 'The partner is suspended. Contact support.',
  not_approved: 'Live mode is not approved yet. Until then only test keys can be created.',
  already_revoked: 'The key is already revoked.',
  already_expired: 'The key has expired.',
  already_rolled: 'The key was already rolled.',
  overlap_too_long: 'The old key can stay valid for seven days at most.',
  no_key: 'Key not found.',
  too_many_keys: 'There are 20 active keys in this mode, the maximum. Revoke one that you do not need.',
  too_many_rolled_keys:
    '20 rolled keys of this mode are still valid, the maximum. Revoke one, or let the old key end at once.',
  too_many_key_changes:
    'The keys were changed too often today. Try again tomorrow (UTC). A key can still be revoked.',
  too_many_changes: 'You have made too many changes today. Try again tomorrow (UTC).',
  bad_address: 'Enter an address that begins with https:// and is reachable from the internet.',
  no_webhook: 'This endpoint does not exist any more.',
  too_many_endpoints: 'A mode has five endpoints at most.',
  contract_events: 'The first endpoint always gets payment.succeeded and payment.failed.',
  overlap: 'The secret was changed less than 24 hours ago, and the old one is still valid. Try again later.',
  not_again_today: 'The test balance was already refilled today. Try again tomorrow (UTC).',
  no_member: 'This person is no longer in the team.',
  last_owner: 'This is the last owner. Make somebody else an owner first.',
  too_many: 'One person can own five partners at most.',
  too_many_today: 'You have created five partners today. Try again tomorrow.',
  image_too_large:
    'This picture is too large. Choose one with at most 12 megapixels (PNG: 8 bits per channel), or paste the link.',
  no_qr_code: 'There is no readable QR code in this picture. Take a sharper photo or paste the link.',
  invalid_qr: 'This is not a link of an SBP QR code, or the code has expired.',
  unsupported_qr: 'This code is for a subscription or for linking an account. It cannot be paid.',
  unsupported_variable_amount: 'This code has no fixed amount.',
  qr_unresolvable: 'The details of this code could not be obtained. Try again later.',
  gateway_busy: 'Too many codes are being checked at the same time. Try again later.',
  gateway_unavailable: 'The payment gateway does not respond. Try again later.',
  rate_unavailable: 'There is no rate yet. Try again in a minute.',
  no_invitation: 'This invitation was already used, has expired or does not exist. Ask for a new one.',
  team_full: 'The team is full. Ask an owner to remove somebody, then try again.',
  no_session: 'This session has already ended.',
  stale: 'This has changed in the meantime. Check the current state and try again.',
  internal_error: 'Something went wrong on our side.',
};

const roles: Record<MemberRole, string> = { viewer: 'Viewer', developer: 'Developer', owner: 'Owner' };

export const en = {
  errors,
  roles,
  nav: {
    overview: 'Overview',
    payments: 'Payments',
    balance: 'Balance and deposits',
    statements: 'Statements',
    rate: 'Rate and quotes',
    qr: 'Check a QR code',
    keys: 'API keys',
    webhook: 'Webhook',
    requests: 'API requests',
    team: 'Team',
    settings: 'Settings',
  },
  documentation: 'Documentation ↗',
  partner: 'Partner',
  mode: 'Mode',
  live: 'Live',
  test: 'Test',
  suspended: 'This partner is suspended: new payments are refused. Contact support.',
  signIn: {
    title: 'Partner portal',
    lead: 'Kopeck · sign in with Telegram',
    how: 'Open our Telegram bot and press “Portal” in the menu.\nThe bot sends a link that signs you in. It works once, within 10 minutes.',
    again: 'Close this window and open the portal from the bot again.',
    openBot: 'Open the bot',
    ended: 'Your session has ended. Open a new link from the bot.',
  },
  otherPerson: {
    title: 'Change the account?',
    now: 'You are signed in as',
    somebodyElse: 'Another person was signed in in this browser before.',
    arriving: 'This link signs in',
    telegramId: (id: string) => `Telegram ID ${id}`,
    noPartners: 'Not in a team',
    warning:
      'If you did not ask our bot for this link, do not change the account: somebody may want you to top up a foreign balance.',
    stay: 'Keep the current account',
    doNotSignIn: 'Do not sign in',
    change: 'Sign in with the other account',
  },
  noPartner: {
    title: 'You are not in a team',
    lead: 'Ask an owner for an invitation, or create a partner of your own.',
  },
  newPartner: {
    name: 'Name',
    hint: 'Test mode works at once. Live mode opens after our approval.',
    create: 'Create partner',
    created: 'Partner created',
  },
  join: {
    label: 'Invitation',
    hint: 'The link that an owner has sent you.',
    join: 'Join',
    joined: 'You are in the team',
  },
};

/** Both languages have the same texts. */
export type PortalTexts = typeof en;
