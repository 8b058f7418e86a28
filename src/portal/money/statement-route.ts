import Type from 'typebox';
import { Day, Mode, statementOf } from '../../web/index.ts';
import { get } from '../route.ts';

const Query = Type.Object({
  mode: Mode,
  day: Day,
  format: Type.Union([Type.Literal('csv'), Type.Literal('json')]),
});

/** The statement of a day, with the same bytes as from the API. */
export const statementRoute = get('/statement', 'viewer', { query: Query }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const { mode } = request.query;
  return statementOf({ db: deps.readsOf(partnerId), clock: deps.clock }, { partnerId, mode }, request.query);
});
