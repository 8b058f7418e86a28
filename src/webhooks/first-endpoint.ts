import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';

export interface EndpointRef {
  partnerId: Id<'prt'>;
  endpointId: Id<'whe'>;
}

/** The first endpoint has the UUID of its partner, so its id is known without a read. */
export const firstEndpointOf = (partnerId: Id<'prt'>): Id<'whe'> => idFromUuid('whe', uuidFromId(partnerId));

export const isFirst = (partnerId: Id<'prt'>, endpointId: Id<'whe'>) =>
  endpointId === firstEndpointOf(partnerId);

/** What names an endpoint beside payments and partners, in alarms and sealed secrets: the first is just the webhook of its partner. */
export const subjectOf = ({ partnerId, endpointId }: EndpointRef): Id<'prt'> | Id<'whe'> =>
  isFirst(partnerId, endpointId) ? partnerId : endpointId;
