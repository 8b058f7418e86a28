import Type from 'typebox';
import {
  addReportAddress,
  confirmReportAddress,
  getsMonthlyReport,
  listReportAddresses,
  maxAddresses,
  removeReportAddress,
  reportLanguages,
  setMonthlyReport,
} from '../../reports/index.ts';
import { done, oneOf, refuse, Text } from '../../web/index.ts';
import { auditContextOf, get, post } from '../route.ts';

/** Only for owners: they are who gets it. */
export const showMonthlyReport = get('/monthly-report', 'own', {}, async ({ member }, deps) => {
  const { partnerId } = member.partner;
  const addresses = await listReportAddresses(deps.db, partnerId);
  return {
    is_on: await getsMonthlyReport(deps.db, partnerId),
    /** Null: this service sends no mails. */
    addresses: deps.smtp
      ? addresses.map(({ address, isConfirmed }) => ({ address, is_confirmed: isConfirmed }))
      : null,
  };
});

const refusals = {
  bad_address: refuse(400, 'invalid_request', 'Enter one e-mail address, such as accounts@example.com.'),
  too_many: refuse(
    400,
    'too_many_addresses',
    `The report goes to at most ${maxAddresses} addresses: remove one first.`,
  ),
  too_many_today: refuse(429, 'too_many_changes', 'Too many addresses were added today: try again tomorrow.'),
  not_found: refuse(404, 'not_found', 'The address was removed: add it again.'),
  wrong_code: refuse(400, 'wrong_code', 'The code is wrong: enter the code from the mail.'),
  code_expired: refuse(
    400,
    'code_expired',
    'The code is not valid any more: remove the address and add it again.',
  ),
  mail_off: refuse(400, 'invalid_request', 'This service sends no mails.'),
};
const outcomeOf = (outcome: keyof typeof refusals | 'done') =>
  outcome === 'done' ? done : refusals[outcome];

export const monthlyReportRoutes = [
  showMonthlyReport,
  post('/monthly-report', 'own', { body: { is_on: Type.Boolean() } }, async (request, deps) => {
    await setMonthlyReport(auditContextOf(deps, request), request.member.partner, request.body.is_on);
    return done;
  }),
  post(
    '/monthly-report/addresses',
    'own',
    { body: { address: Text, language: oneOf(...reportLanguages) } },
    async (request, deps) => {
      if (!deps.smtp) return refusals.mail_off;
      const { body, member } = request;
      const audit = auditContextOf(deps, request);
      return outcomeOf(await addReportAddress(audit, member.partner.partnerId, body.address, body.language));
    },
  ),
  post(
    '/monthly-report/addresses/confirm',
    'own',
    { body: { address: Text, code: Text } },
    async (request, deps) => {
      const { body, member } = request;
      const audit = auditContextOf(deps, request);
      return outcomeOf(
        await confirmReportAddress(audit, member.partner.partnerId, body.address, body.code.trim()),
      );
    },
  ),
  post('/monthly-report/addresses/remove', 'own', { body: { address: Text } }, async (request, deps) => {
    await removeReportAddress(
      auditContextOf(deps, request),
      request.member.partner.partnerId,
      request.body.address,
    );
    return done;
  }),
];
