import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';

/**
 * Where endpoints and their outbox are. The first endpoint of a partner is the webhook of the contract: one row per partner, as the
 * previous release knows it. Further endpoints have tables of their own. The columns are the same but for the key.
 */
export interface EndpointTables {
  webhooks: 'webhooks' | 'further_webhooks';
  deliveries: 'deliveries' | 'further_deliveries';
  key: 'partner_id' | 'endpoint_id';
  /** At the end of the names of statements. */
  suffix: '' | ' of further endpoints';
  /** Records the results of attempts. */
  end: 'deliveries_end' | 'further_deliveries_end';
}

export const firstEndpoints: EndpointTables = {
  webhooks: 'webhooks',
  deliveries: 'deliveries',
  key: 'partner_id',
  suffix: '',
  end: 'deliveries_end',
};

export const furtherEndpoints: EndpointTables = {
  webhooks: 'further_webhooks',
  deliveries: 'further_deliveries',
  key: 'endpoint_id',
  suffix: ' of further endpoints',
  end: 'further_deliveries_end',
};

export const allEndpoints = [firstEndpoints, furtherEndpoints];

/** The first endpoint has the UUID of its partner, so its id is known without a read. */
export const firstEndpointOf = (partnerId: Id<'prt'>): Id<'whe'> => idFromUuid('whe', uuidFromId(partnerId));

export const isFirst = (partnerId: Id<'prt'>, endpointId: Id<'whe'>) =>
  endpointId === firstEndpointOf(partnerId);

export const tablesOf = (partnerId: Id<'prt'>, endpointId: Id<'whe'>) =>
  isFirst(partnerId, endpointId) ? firstEndpoints : furtherEndpoints;
