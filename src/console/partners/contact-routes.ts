import Type from 'typebox';
import { isContactsText, maxContactsLength, setContacts } from '../../partners/index.ts';
import { done, refuse } from '../../web/index.ts';
import { auditContextOf, post } from '../route.ts';
import { noPartner, partnerIdOf } from './rows.ts';

const Lines = Type.String({ maxLength: maxContactsLength });

const change = post(
  '/partners/:id/contacts',
  'partners.contacts',
  {
    find: partnerIdOf,
    body: { contacts: Lines, notes: Lines, version: Type.Integer({ minimum: 0, maximum: 999_999_999 }) },
  },
  async (request, deps, partnerId) => {
    const { version, ...sent } = request.body;
    const [contacts, notes] = [sent.contacts.trim(), sent.notes.trim()];
    if (!isContactsText(contacts) || !isContactsText(notes))
      return refuse(400, 'invalid_request', 'Enter plain text of up to 2000 characters.');
    const outcome = await setContacts(auditContextOf(deps, request), partnerId, { contacts, notes }, version);
    if (outcome === 'no_partner') return noPartner;
    const message = 'The contacts have changed since this page was loaded: reload it and try again.';
    return outcome === 'stale' ? refuse(409, outcome, message) : done;
  },
);

/** Whom to call at a partner, and what operators have noted. */
export const contactRoutes = [change];
