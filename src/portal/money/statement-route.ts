import Type from 'typebox';
import { parseDay } from '../../base/instants.ts';
import { openStatement, writeStatement } from '../../ledger/index.ts';
import { Day, Download, Mode, refuse } from '../../web/index.ts';
import { get } from '../route.ts';

const Query = Type.Object({
  mode: Mode,
  day: Day,
  format: Type.Union([Type.Literal('csv'), Type.Literal('json')]),
});

/** The statement of a day, with the same bytes as from the API. */
export const statementRoute = get('/statement', 'viewer', { query: Query }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const { mode, format } = request.query;
  const db = deps.readsOf(partnerId);
  const day = parseDay(request.query.day);
  const statement = day && (await openStatement(db, deps.clock, { partnerId, mode }, day));
  if (!statement) return refuse(400, 'invalid_request', 'This day does not exist or has not started.');
  if (statement === 'pruned') return refuse(404, 'not_found', 'The test data of this day was deleted.');
  const name = `statement-${partnerId}-${mode}-${statement.day}.${format}`;
  return new Download(name, writeStatement(db, statement, format));
});
