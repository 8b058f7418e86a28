import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseDay } from '../../base/instants.ts';
import { openStatement, writeStatement } from '../../ledger/index.ts';
import { Day, fileOf, Mode, refuse, typed } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';

const Query = Type.Object({
  mode: Mode,
  day: Day,
  format: Type.Union([Type.Literal('csv'), Type.Literal('json')]),
});

/** The statement of a day, with the same bytes as from the API. */
export function statementRoute(scope: FastifyInstance, deps: RouteDeps): void {
  typed(scope).get(
    '/partners/:partner_id/statement',
    { config: { allows: 'viewer' }, schema: { querystring: Query } },
    async (request, reply) => {
      const { partnerId } = request.member.partner;
      const { mode, format } = request.query;
      const db = deps.readsOf(partnerId);
      const day = parseDay(request.query.day);
      const statement = day && (await openStatement(db, deps.clock, { partnerId, mode }, day));
      if (!statement)
        return refuse(request, reply, 400, 'invalid_request', 'This day does not exist or has not started.');
      if (statement === 'pruned')
        return refuse(request, reply, 404, 'not_found', 'The test data of this day was deleted.');
      const name = `statement-${partnerId}-${mode}-${statement.day}.${format}`;
      return reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8')
        .header('Content-Disposition', `attachment; filename="${name}"`)
        .send(fileOf(deps, request, writeStatement(db, statement, format)));
    },
  );
}
