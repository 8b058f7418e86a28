import Type from 'typebox';
import {
  alarmObject,
  alarmTitles,
  clearAlarm,
  findAlarms,
  pageOfAlarm,
  parseAlarmId,
  titleOfAlarm,
} from '../../alarms/index.ts';
import { parseId } from '../../base/ids.ts';
import { parseInstant } from '../../base/instants.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { done, Instant, oneOf, paging, readFields, refuse, Text, unsearchable } from '../../web/index.ts';
import { partnersOf } from '../../webhooks/index.ts';
import { auditContextOf, get, post } from '../route.ts';

const Search = {
  kind: Type.Optional(Text),
  subject: Type.Optional(Text),
  state: Type.Optional(oneOf('open', 'cleared')),
  since: Type.Optional(Instant),
  until: Type.Optional(Instant),
  ...paging,
};

/** With its title, and the page of what it is about. An endpoint has none of its own: it is on that of its partner. */
export async function alarmRows(db: Queryable, alarms: Parameters<typeof alarmObject>[0][]) {
  const partners = await partnersOf(
    db,
    alarms.flatMap(({ subject }) => parseId('whe', subject) ?? []),
  );
  return alarms.map(alarm => ({
    ...alarmObject(alarm),
    title: titleOfAlarm(alarm.kind),
    page: pageOfAlarm(alarm, partners.get(alarm.subject)),
  }));
}

const list = get('/alarms', 'see', { query: Search }, async (request, { db }) => {
  const { kind, subject, state, since, until, limit, after: cursor } = request.query;
  const filter = readFields(read => ({
    ...{ kind, subject, state },
    from: read(since, parseInstant),
    before: read(until, parseInstant),
  }));
  const below = cursor === undefined ? undefined : parseAlarmId(cursor);
  if (!filter || (cursor !== undefined && below === undefined)) return unsearchable;
  const found = await findAlarms(db, filter, { limit: limit + 1, below });
  const alarms = found.slice(0, limit);
  return {
    data: await alarmRows(db, alarms),
    next_cursor: found.length > limit ? `${alarms.at(-1)!.alarmId}` : null,
  };
});

const clear = post('/alarms/:id/clear', 'alarms.clear', {}, async (request, deps) => {
  const alarmId = parseAlarmId(request.params.id);
  const outcome =
    alarmId === undefined ? 'no_alarm' : await clearAlarm(auditContextOf(deps, request), alarmId);
  return outcome === 'cleared' ? done : refuse(409, 'no_alarm', 'This alarm is not open any more.');
});

export const listKinds = get('/alarms/kinds', 'see', {}, () => ({ data: alarmTitles }));

/** The alarms of a year, open and cleared; and the kinds that there are. */
export const alarmRoutes = [list, listKinds, clear];
